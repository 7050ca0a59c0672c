// The ETag of an answer, and its comparison with what a client holds (RFC 9110 sections 8.8.3, 13.1). The tag is weak: the same
// content is sent with and without compression.
import { createHash, type Hash } from 'node:crypto';

/** @param digest SHA-256 that was given the whole text of the answer, or what the text depends on. */
export function answerTag(digest: Hash): string {
  return `W/"${digest.digest('base64url').slice(0, 27)}"`;
}

/** The tag of an answer that is not paged. */
export function tagOfAnswer(answer: object): string {
  return answerTag(createHash('sha256').update(JSON.stringify(answer)));
}

/** True when a header `If-None-Match` or `If-Match` names the tag, or anything (`*`). */
export function namesTag(header: string, tag: string): boolean {
  if (header.trim() === '*') return true;
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag.replace(/^W\//, ''));
}
