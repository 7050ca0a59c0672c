// The code of the relay guard with one operator, bound, negation or literal changed, as modules. Each must give a wrong answer somewhere.
import { readFileSync } from 'node:fs';
import { compileFunction } from 'node:vm';
import { parseAst, transformWithOxc } from 'vite';
import type { createGuard, recordFact } from '../../../agent/guard/facts.ts';
import type { askGuard } from '../../../agent/guard/guard.ts';
import { featureNames } from '../../../src/core/events/event.ts';
import { decodeCommand, signedTypes } from '../../../src/core/wire/wire.ts';
import { checkout } from '../machine/checkout.ts';

export interface Guard {
  readonly createGuard: typeof createGuard;
  readonly recordFact: typeof recordFact;
  readonly askGuard: typeof askGuard;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly put: string;
}

export interface Mutant extends Edit {
  /** The line and its change, for a report. */
  readonly title: string;
}

interface AstNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

/** All files of the guard as one script without types and imports; what they import is in `outside`. */
export async function guardSource(): Promise<string> {
  const parts = await Promise.all(
    ['order', 'facts', 'guard'].map(async (name) => {
      const file = `agent/guard/${name}.ts`;
      const { code } = await transformWithOxc(readFileSync(new URL(file, checkout), 'utf8'), file);
      return code.replaceAll(/^import [^;]*;$/gm, '').replaceAll(/^export (?=const|function|class)/gm, '');
    }),
  );
  return parts.join('\n').replaceAll(/^\/\/# sourceMappingURL.*$/gm, '');
}

/** The guard that a source makes. */
export function guardOf(source: string): Guard {
  const body = `${source}\nreturn { createGuard, recordFact, askGuard };`;
  const outside = ['featureNames', 'decodeCommand', 'signedTypes'];
  const make = compileFunction(body, outside) as (...given: readonly unknown[]) => Guard;
  return make(featureNames, decodeCommand, signedTypes);
}

const operators: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '&&': ['||'],
  '||': ['&&'],
};
const calls: Readonly<Record<string, string>> = { some: 'every', every: 'some', max: 'min', min: 'max' };

const isNode = (value: unknown): value is AstNode =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';

function literals({ value, start, end }: AstNode): readonly Edit[] {
  if (typeof value === 'number')
    return [value + 1, value - 1].map((put) => ({ start, end, put: `(${put})` }));
  if (typeof value === 'boolean') return [{ start, end, put: String(!value) }];
  if (value === null) return [{ start, end, put: '0' }];
  return typeof value === 'string' ? [{ start, end, put: JSON.stringify(`${value}!`) }] : [];
}

/** Puts another operator between the two operands. */
function between(source: string, left: AstNode, right: AstNode, operator: string): readonly Edit[] {
  const [start, end] = [left.end, right.start];
  const gap = source.slice(start, end);
  return (operators[operator] ?? []).map((put) => ({ start, end, put: gap.replace(operator, put) }));
}

function editsAt(source: string, node: AstNode): readonly Edit[] {
  const { type, start, end } = node;
  const child = (name: string): AstNode => node[name] as AstNode;
  switch (type) {
    case 'BinaryExpression':
      return between(source, child('left'), child('right'), String(node['operator']));
    case 'LogicalExpression': {
      const operator = String(node['operator']);
      if (operator !== '??') return between(source, child('left'), child('right'), operator);
      const { start: from, end: to } = child('left');
      return [{ start, end, put: `(${source.slice(from, to)})` }];
    }
    case 'UnaryExpression':
      return node['operator'] === '!' || node['operator'] === '-' ? [{ start, end: start + 1, put: '' }] : [];
    case 'ConditionalExpression':
    case 'IfStatement': {
      const test = child('test');
      return ['true', 'false'].map((put) => ({ start: test.start, end: test.end, put: `(${put})` }));
    }
    case 'MemberExpression': {
      const property = child('property');
      const put = node['computed'] === true ? undefined : calls[String(property['name'])];
      return put === undefined ? [] : [{ start: property.start, end: property.end, put }];
    }
    case 'Literal':
      return literals(node);
    default:
      return [];
  }
}

function collect(source: string, node: AstNode, edits: Edit[]): void {
  edits.push(...editsAt(source, node));
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value])
      if (isNode(child)) collect(source, child, edits);
}

/** Every mutant of the source. */
export function mutantsOf(source: string): readonly Mutant[] {
  const edits: Edit[] = [];
  collect(source, parseAst(source) as unknown as AstNode, edits);
  return edits.map((edit) => {
    const from = source.lastIndexOf('\n', edit.start) + 1;
    const line = source.slice(from, source.indexOf('\n', edit.start)).trim();
    return {
      ...edit,
      title: `${line}  [${source.slice(edit.start, edit.end).trim()} -> ${edit.put.trim()}]`,
    };
  });
}

export const mutated = (source: string, { start, end, put }: Edit): string =>
  `${source.slice(0, start)}${put}${source.slice(end)}`;
