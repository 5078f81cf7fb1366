import { isObject, type Members, step as pointerStep, stepsOf } from '@automation-platform/json';
import type { Method } from './signatures.ts';

/** A fault or a warning. `path`: a JSON Pointer into it. */
export type Finding = { readonly code: string; readonly path: string; readonly message: string };

/** A condition: the branch `index` of a switch was chosen. */
export type Branch = { readonly step: string; readonly index: number };

/** One assignment: a value from a step or from what comes in, looked into by `from`, put to a place. */
export type Wire = {
  /** Null: from what comes in. */
  readonly step: string | null;
  readonly name: string;
  readonly from: readonly string[];
  /** Of an argument its index, then the place in it; of an output the place in it. */
  readonly to: readonly string[];
  readonly branches: readonly Branch[];
};

export type Step = {
  readonly id: string;
  readonly kind: string;
  /** `Library.method`, or the name of a function. */
  readonly name: string;
  readonly args: readonly unknown[];
  readonly wires: Wire[];
  readonly branches: readonly Branch[];
  readonly polymorphIndex: number;
  /** Of a template: texts, and between them the indexes of arguments. */
  readonly template: readonly (string | number)[];
  /** Of a switch: the values of its branches, from the first on. */
  readonly cases: readonly unknown[];
  readonly path: string;
  method?: Method | undefined;
  /** The function of the document that it calls, itself or by its method. */
  scope?: Scope | undefined;
};

/** The document, or a function of it. */
export type Scope = {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly around: Scope | null;
  readonly incoming: readonly Members[];
  readonly outgoing: readonly string[];
  readonly functions: readonly Scope[];
  readonly steps: ReadonlyMap<string, Step>;
  readonly outputs: { readonly name: string; readonly wire: Wire }[];
};

export type Report = (code: string, path: string, message: string) => void;

const locations = ['method', 'declaration', 'template', 'function', 'context'];
const mostLevels = 16;

const listOf = (value: unknown, path: string, fault: Report): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  if (value !== undefined && value !== null) fault('form', path, 'It must be a list');
  return [];
};

const nameOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** `#/24[2]/30[1]`: the second branch of the switch 24, and within it the first of 30. */
const branchesOf = (context: unknown): readonly Branch[] =>
  typeof context === 'string'
    ? [...context.matchAll(/\/([^/[\]]+)\[(\d+)\]/g)].map(([, step = '', index]) => ({ step, index: Number(index) }))
    : [];

/** A template's texts, and between them the indexes of its arguments: names count in the order of first appearance. */
const templateOf = (text: unknown): readonly (string | number)[] => {
  const names: string[] = [];
  return String(text ?? '')
    .split(/\$\{([^}]*)\}/)
    .map((part, i) => {
      if (i % 2 === 0) return part;
      if (!names.includes(part)) names.push(part);
      return names.indexOf(part);
    });
};

const stepFrom = (raw: Members, path: string, fault: Report): Step => {
  const { id, type, library, method, template, polymorphIndex } = raw;
  if (type !== 'function' && ![library, method].every((one) => typeof one === 'string'))
    fault('form', path, 'library and method must be texts');
  return {
    id: nameOf(id),
    kind: nameOf(type),
    name: type === 'function' ? nameOf(raw.function) : `${nameOf(library)}.${nameOf(method)}`,
    args: listOf(raw.args, `${path}/args`, fault),
    wires: [],
    branches: branchesOf(raw.context),
    polymorphIndex: typeof polymorphIndex === 'number' ? polymorphIndex : 0,
    template: type === 'template' ? templateOf(template) : [],
    cases: Array.isArray(raw.return) ? raw.return : [],
    path,
  };
};

type End = { readonly location: string; readonly name: string; readonly steps: readonly string[] };

const endOf = (raw: unknown, path: string, fault: Report): End | undefined => {
  if (!isObject(raw) || typeof raw.location !== 'string' || nameOf(raw.name) === '') {
    fault('form', path, 'It must be an object with location and name');
    return undefined;
  }
  const pointer = raw.ptr ?? '';
  if (typeof pointer !== 'string' || !(pointer === '' || pointer.startsWith('/'))) {
    fault('form', `${path}/ptr`, 'It must be a JSON Pointer');
    return undefined;
  }
  return { location: raw.location, name: nameOf(raw.name), steps: stepsOf(pointer) };
};

const wire = (raw: Members, scope: Scope, path: string, fault: Report): void => {
  const [from, to] = [endOf(raw.from, `${path}/from`, fault), endOf(raw.to, `${path}/to`, fault)];
  if (!from || !to) return;
  const ofStep = locations.includes(from.location);
  if (!ofStep && from.location !== 'incoming') {
    fault('form', `${path}/from/location`, `${from.location} is no place of values`);
    return;
  }
  if (ofStep && !scope.steps.has(from.name)) {
    fault('reference', `${path}/from/name`, `There is no step ${from.name}`);
    return;
  }
  if (ofStep && from.steps[0] !== 'return') {
    fault('reference', `${path}/from/ptr`, 'The value of a step is at /return');
    return;
  }
  const own = {
    step: ofStep ? from.name : null,
    name: from.name,
    from: ofStep ? from.steps.slice(1) : from.steps,
    branches: branchesOf(raw.context),
  };
  if (to.location === 'outgoing') {
    scope.outputs.push({ name: to.name, wire: { ...own, to: to.steps } });
    return;
  }
  const target = scope.steps.get(to.name);
  const [args, index = '', value, ...within] = to.steps;
  // The editor also wires the branch of a step, which its context says as well.
  if (args === 'context') return;
  if (!target || !locations.includes(to.location))
    fault('reference', `${path}/to/name`, `There is no ${to.location} ${to.name}`);
  else if (args !== 'args' || value !== 'value' || !/^\d{1,3}$/.test(index))
    fault('reference', `${path}/to/ptr`, 'An argument is at /args/<index>/value');
  else target.wires.push({ ...own, to: [index, ...within] });
};

const levelOf = ({ around }: Scope): number => (around ? levelOf(around) + 1 : 0);

/** Reads a document, or a function of it, and tells the faults of its form. */
export const scopeOf = (document: Members, around: Scope | null, path: string, fault: Report): Scope => {
  const steps = new Map<string, Step>();
  const functions: Scope[] = [];
  const objects = (member: 'incoming' | 'outgoing' | 'steps' | 'functions') =>
    listOf(document[member], `${path}/${member}`, fault).flatMap((one, i) => {
      const at = `${path}/${member}${pointerStep(i)}`;
      if (isObject(one)) return [{ one, at }];
      fault('form', at, 'It must be an object');
      return [];
    });
  const scope: Scope = {
    id: nameOf(document.id),
    name: nameOf(document.name),
    path,
    around,
    incoming: objects('incoming').map(({ one }) => one),
    outgoing: objects('outgoing').map(({ one }) => nameOf(one.$id)),
    functions,
    steps,
    outputs: [],
  };
  for (const { one, at } of objects('functions')) {
    if (levelOf(scope) < mostLevels) functions.push(scopeOf(one, scope, at, fault));
    else fault('form', at, `Functions may be ${mostLevels} levels deep`);
  }
  const raw = objects('steps');
  for (const { one, at } of raw) {
    if (one.type === 'assign') continue;
    const own = stepFrom(one, at, fault);
    if (!locations.includes(own.kind)) fault('form', `${at}/type`, `${JSON.stringify(one.type)} is no type of a step`);
    else if (own.id === '' || steps.has(own.id)) fault('form', `${at}/id`, 'It must be a text or number of its own');
    else steps.set(own.id, own);
  }
  for (const { one, at } of raw) if (one.type === 'assign') wire(one, scope, at, fault);
  return scope;
};
