// A film of a page of the console: a picture every second with a line that says what is done, and a page that plays them.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

interface Frame {
  readonly file: string;
  readonly caption: string;
}

export interface Film {
  /** From now on pictures show this line. */
  caption(text: string): void;
  /** Ends the film and writes the page that plays it. */
  end(): Promise<readonly Frame[]>;
}

const everyMs = 1000;

/** Shows where the pointer is; a picture has none. */
const pointerScript = `addEventListener('DOMContentLoaded', () => {
  const ring = document.createElement('div');
  ring.style.cssText = 'position:fixed;z-index:2147483647;width:28px;height:28px;margin:-14px 0 0 -14px;border-radius:50%;' +
    'border:3px solid #e8a200;box-shadow:0 0 0 1px #000;pointer-events:none;left:-50px;top:-50px';
  document.documentElement.append(ring);
  addEventListener('mousemove', ({ clientX, clientY }) => {
    ring.style.left = clientX + 'px';
    ring.style.top = clientY + 'px';
  }, true);
});`;

/** A page of its own, without a request to another host. */
const playerOf = (frames: readonly Frame[]): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Fleetward: the first minute</title>
<style>
  body { margin: 0; font: 16px system-ui, sans-serif; background: #111; color: #eee; }
  main { max-width: 1200px; margin: auto; padding: 12px; }
  img { width: 100%; display: block; }
  p { min-height: 1.5em; margin: 8px 0; }
  form { display: flex; gap: 12px; }
  input { flex: 1; }
  ol { display: grid; grid-template-columns: repeat(auto-fill, minmax(180px, 1fr)); gap: 8px; padding: 0; list-style: none; font-size: 12px; }
</style>
<main>
  <img id="picture" alt="">
  <p id="line"></p>
  <form><button type="button" id="play">Pause</button><input type="range" id="at" min="0" max="${frames.length - 1}" value="0" aria-label="Second"></form>
  <ol>${frames.map(({ file, caption }, n) => `<li><img src="${file}" alt="" loading="lazy">${n} s. ${caption}</li>`).join('')}</ol>
</main>
<script>
  const frames = ${JSON.stringify(frames)};
  const [picture, line, at, play] = ['picture', 'line', 'at', 'play'].map((id) => document.getElementById(id));
  const show = () => {
    const frame = frames[Number(at.value)];
    picture.src = frame.file;
    picture.alt = frame.caption;
    line.textContent = at.value + ' s. ' + frame.caption;
  };
  let isPlaying = true;
  setInterval(() => {
    if (!isPlaying || Number(at.value) >= frames.length - 1) return;
    at.value = String(Number(at.value) + 1);
    show();
  }, ${everyMs});
  at.addEventListener('input', show);
  play.addEventListener('click', () => {
    isPlaying = !isPlaying;
    play.textContent = isPlaying ? 'Pause' : 'Play';
  });
  show();
</script>
</html>
`;

/** Begins a film in an empty `folder`; the page shows its pointer from its next document on. */
export async function beginFilm(page: Page, folder: string): Promise<Film> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await page.addInitScript(pointerScript);
  const frames: Frame[] = [];
  let caption = '';
  const run = { isEnded: false };
  const shoot = async (): Promise<void> => {
    for (let dueMs = performance.now(); !run.isEnded; dueMs += everyMs) {
      const file = `${String(frames.length).padStart(2, '0')}.jpg`;
      const shownCaption = caption;
      // A page that is being replaced has no picture.
      const bytes = await page.screenshot({ type: 'jpeg', quality: 70 }).catch(() => null);
      if (bytes !== null) {
        writeFileSync(join(folder, file), bytes);
        frames.push({ file, caption: shownCaption });
      }
      await new Promise((done) => setTimeout(done, Math.max(0, dueMs + everyMs - performance.now())));
    }
  };
  const ended = shoot();
  return {
    caption(text) {
      caption = text;
    },
    async end() {
      run.isEnded = true;
      await ended;
      writeFileSync(join(folder, 'index.html'), playerOf(frames));
      return frames;
    },
  };
}
