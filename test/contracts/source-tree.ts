import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
// The parser that vitest itself brings along: the compiler of TypeScript 7 has no API for programs yet.
import { parseAst } from 'rolldown/parseAst';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = [
  'schemas',
  'collector',
  'store',
  'alerts',
  'jobs',
  'dashboards',
  'console',
  'operate',
  'cli',
  'sandbox',
  'docs',
  'test',
];

/** One `import`, `export ... from` or `import(...)` of a file. */
export interface Import {
  /** Path from the root, with `/`, of the importing file. */
  readonly from: string;
  /** As written: `../errors.ts`, `node:fs`, `zod`. */
  readonly specifier: string;
  /** Path from the root for a file of ours; otherwise null. */
  readonly file: string | null;
  /** The package, or `node:` and the module; null for a file of ours. */
  readonly library: string | null;
  /** Gone when the file runs: `import type`, `export type`. */
  readonly typeOnly: boolean;
}

export interface SourceFile {
  /** Path from the root, with `/`. */
  readonly path: string;
  readonly imports: readonly Import[];
  /** Does it read the global `process` or import it? */
  readonly usesProcess: boolean;
  readonly defaultExport: boolean;
  /** Does it do nothing but pass on what other files export? */
  readonly barrel: boolean;
  /** `vi.mock` and its like. */
  readonly mocks: readonly string[];
  /**
   * `require` and `createRequire` calls, and `import()` of something computed: imports that no rule can see.
   */
  readonly hiddenImports: readonly string[];
  readonly functions: readonly FunctionSize[];
}

export interface FunctionSize {
  /** What it is bound to; '' when it has no name. */
  readonly name: string;
  /** From its first line to its last, without the lines within texts such as SQL. */
  readonly lines: number;
}

/** Every TypeScript file of the project, parsed. Generated folders are no source. */
export function sourceFiles(): SourceFile[] {
  return FOLDERS.flatMap((folder) => listFiles(folder))
    .filter((path) => /\.[cm]?tsx?$/.test(path))
    .map((path) => readSource(path, readFileSync(join(ROOT, path), 'utf8')));
}

/** Every file under a folder, as a path from the root; `out/`, `node_modules` and hidden folders left out. */
export function listFiles(folder: string): string[] {
  let entries;
  try {
    entries = readdirSync(join(ROOT, folder), { withFileTypes: true });
  } catch {
    return [];
  }
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (!entry.isDirectory()) return entry.isFile() ? [path] : [];
    return /^(out|node_modules|\..*)$/.test(entry.name) ? [] : listFiles(path);
  });
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string };
const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

/** Reads one file's text into what the rules are about. */
export function readSource(path: string, text: string): SourceFile {
  const program = parseAst(text, { lang: 'ts', sourceType: 'module' }, path) as unknown as Node;
  const imports: Import[] = [];
  const found = {
    usesProcess: false,
    defaultExport: false,
    mocks: [] as string[],
    hiddenImports: [] as string[],
    functions: [] as FunctionSize[],
  };
  const lineAt = lineCounter(text);
  // Functions that are given the process: there it is a parameter like any other.
  const handedIn: Node[] = [];
  visit(program, (node, parent) => {
    const specifier = sourceOf(node);
    if (specifier !== null) imports.push(importOf(path, specifier, isTypeOnly(node)));
    if (node.type === 'ImportExpression' && specifier === null) found.hiddenImports.push('import(...)');
    if (node.type === 'ExportDefaultDeclaration') found.defaultExport = true;
    if (hasParameter(node, 'process')) handedIn.push(node);
    if (FUNCTION.test(node.type)) found.functions.push(sizeOf(node, parent, lineAt));
    const global = node.type === 'Identifier' && node['name'] === 'process' && isReference(node, parent);
    if (global && !handedIn.some((owner) => contains(owner, node))) found.usesProcess = true;
    if (node.type === 'MemberExpression' && nameOf(node['object']) === 'globalThis') {
      found.usesProcess ||= nameOf(node['property']) === 'process';
    }
    if (node.type !== 'CallExpression') return;
    const callee = calleeOf(node);
    if (/^vi\.(mock|doMock|unmock|hoisted|importMock)$/.test(callee)) found.mocks.push(callee);
    if (/^(require|createRequire|module\.createRequire)$/.test(callee)) found.hiddenImports.push(callee);
  });
  found.usesProcess ||= imports.some(({ library }) => library === 'node:process');
  const body = (program['body'] as Node[]).filter(({ type }) => type !== 'ImportDeclaration');
  const barrel =
    body.length > 0 && body.every((node) => node.type.startsWith('Export') && node['declaration'] == null);
  return { path, imports, barrel, ...found };
}

const FUNCTION = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

/** Gives the line, from 1, of a place in the text. */
function lineCounter(text: string): (offset: number) => number {
  const ends = [...text.matchAll(/\n/g)].map(({ index }) => index);
  return (offset) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}

function sizeOf(node: Node, parent: Node | null, lineAt: (offset: number) => number): FunctionSize {
  const span = (one: Node) => lineAt(Number(one['end']) - 1) - lineAt(Number(one['start']));
  let texts = 0;
  const leaveOut = (one: Node): void => {
    if (one.type === 'TemplateElement') texts += span(one);
    for (const child of Object.values(one).flat()) if (isNode(child)) leaveOut(child);
  };
  leaveOut(node);
  const name = nameOf(node['id']) || nameOf(parent?.['id']) || nameOf(parent?.['key']);
  return { name, lines: span(node) + 1 - texts };
}

function importOf(from: string, specifier: string, typeOnly: boolean): Import {
  if (specifier.startsWith('.')) {
    const file = normalize(join(dirname(from), specifier)).replaceAll('\\', '/');
    return { from, specifier, file, library: null, typeOnly };
  }
  const [scope = '', name = ''] = specifier.split('/');
  const library = specifier.startsWith('@')
    ? `${scope}/${name}`
    : specifier.startsWith('node:')
      ? specifier
      : scope;
  return { from, specifier, file: null, library, typeOnly };
}

/** The text after `from`, in `import()` and in a type's `import('...')`. */
function sourceOf(node: Node): string | null {
  const literal =
    node.type === 'ImportDeclaration' || node.type === 'ImportExpression' || node.type.startsWith('Export')
      ? node['source']
      : node.type === 'TSImportType'
        ? (node['source'] ?? node['argument'])
        : null;
  const value = isNode(literal)
    ? (literal['value'] ?? (isNode(literal['literal']) ? literal['literal']['value'] : null))
    : null;
  return typeof value === 'string' ? value : null;
}

/** `import { type A }` still loads the file when it runs: only a whole declaration can be type-only. */
function isTypeOnly(node: Node): boolean {
  return node.type === 'TSImportType' || node['importKind'] === 'type' || node['exportKind'] === 'type';
}

/** A use of the name as a variable, not as a property, a key or a name that is being exported. */
function isReference(node: Node, parent: Node | null): boolean {
  if (parent === null) return true;
  if (parent.type === 'MemberExpression') return parent['object'] === node || parent['computed'] === true;
  if (parent.type === 'Property') return parent['value'] === node;
  return !/^(PropertyDefinition|MethodDefinition|TS\w+|ImportSpecifier|ExportSpecifier)$/.test(parent.type);
}

function hasParameter(node: Node, name: string): boolean {
  const params = node['params'];
  return Array.isArray(params) && params.some((param) => nameOf(param) === name);
}

const contains = (outer: Node, inner: Node): boolean =>
  Number(outer['start']) <= Number(inner['start']) && Number(inner['end']) <= Number(outer['end']);

const nameOf = (value: unknown): string => (isNode(value) ? String(value['name'] ?? '') : '');

function calleeOf(node: Node): string {
  const callee = node['callee'];
  if (!isNode(callee)) return '';
  return callee.type === 'MemberExpression'
    ? `${nameOf(callee['object'])}.${nameOf(callee['property'])}`
    : nameOf(callee);
}

function visit(node: Node, use: (node: Node, parent: Node | null) => void, parent: Node | null = null): void {
  use(node, parent);
  for (const child of Object.values(node).flat()) if (isNode(child)) visit(child, use, node);
}

/** The ring of files that import one another, if there is one: `a -> b -> a`. */
export function findCycle(files: readonly SourceFile[]): string[] | null {
  const targets = new Map(files.map((file) => [file.path, file.imports.flatMap((one) => one.file ?? [])]));
  const done = new Set<string>();
  const walk = (path: string, trail: readonly string[]): string[] | null => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return null;
    for (const target of targets.get(path) ?? []) {
      const cycle = walk(target, [...trail, path]);
      if (cycle !== null) return cycle;
    }
    done.add(path);
    return null;
  };
  for (const path of targets.keys()) {
    const cycle = walk(path, []);
    if (cycle !== null) return cycle;
  }
  return null;
}
