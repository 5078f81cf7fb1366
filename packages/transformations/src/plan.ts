import { isObject } from '@automation-platform/json';
import { limits } from './budget.ts';
import { type Finding, type Report, type Scope, type Step, scopeOf, type Wire } from './document.ts';
import { methods } from './methods/all.ts';
import { LinearPattern, mostInstructions } from './patterns.ts';

/** A document that can be carried out. */
export type Plan = { readonly scope: Scope };

export type Planned = {
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
  /** Absent if there are faults. */
  readonly plan?: Plan;
};

const mostFindings = 100;

/** The function that a name means in a scope: the nearest, by id or name. */
const functionOf = (scope: Scope | null, name: unknown): Scope | undefined => {
  for (let at = scope; at; at = at.around) {
    const found = at.functions.find((one) => one.id === name) ?? at.functions.find((one) => one.name === name);
    if (found) return found;
  }
  return undefined;
};

const resolveFunction = (step: Step, scope: Scope, fault: Report): void => {
  step.scope = functionOf(scope, step.name);
  if (!step.scope) fault('function', `${step.path}/function`, `There is no function ${JSON.stringify(step.name)}`);
};

const resolveCallback = (step: Step, scope: Scope, fault: Report, warn: Report): void => {
  const index = step.method?.takes.findIndex(({ type }) => type === 'function') ?? -1;
  if (index < 0) return;
  const named = step.args[index];
  const path = `${step.path}/args/${index}`;
  // Editors save a step before its function is chosen; published documents have such steps.
  if (named === null || named === undefined || named === '') {
    if (!step.method?.takes[index]?.optional) warn('function', path, 'The function is missing: the step will fail');
    return;
  }
  step.scope = functionOf(scope, named);
  if (!step.scope) fault('function', path, `There is no function ${JSON.stringify(named)}`);
};

type CheckPattern = (step: Step) => void;

/** Patterns that are written, not wired, are tried now, as long as that takes no time to speak of. */
const patternCheck = (fault: Report): CheckPattern => {
  let budget = limits.patterns;
  return ({ args, wires, name, path }) => {
    const [source, flags] = args;
    if (name !== 'RegExp.new RegExp' || typeof source !== 'string' || wires.length > 0 || budget <= 0) return;
    try {
      budget -= new LinearPattern(source, typeof flags === 'string' ? flags : '', () => undefined).instructions + 100;
    } catch (error) {
      budget -= mostInstructions;
      fault('pattern', `${path}/args/0`, (error as Error).message);
    }
  };
};

type Checks = { readonly fault: Report; readonly warn: Report; readonly checkPattern: CheckPattern };

const checkStep = (step: Step, scope: Scope, { fault, warn, checkPattern }: Checks): void => {
  if (step.kind === 'function') {
    resolveFunction(step, scope, fault);
    return;
  }
  step.method = methods.get(step.name);
  if (!step.method) fault('method', step.path, `There is no method ${step.name}`);
  resolveCallback(step, scope, fault, warn);
  checkPattern(step);
};

/** The steps that a wire, a step or an output needs. */
const needed = ({ step, branches }: Pick<Wire, 'step' | 'branches'>): readonly string[] => [
  ...(step === null ? [] : [step]),
  ...branches.map((one) => one.step),
];

const neededBy = ({ wires, branches }: Step): readonly string[] => [
  ...wires.flatMap(needed),
  ...needed({ step: null, branches }),
];

/** Goes from what is asked for to what it needs; tells a step that needs itself, and steps that are never asked for. */
const checkNeeds = (scope: Scope, fault: Report, warn: Report): void => {
  const finished = new Set<string>();
  const follow = (from: readonly string[]): void => {
    const open = new Set<string>();
    const ways: { readonly id: string | null; readonly queue: string[] }[] = [{ id: null, queue: [...from] }];
    for (let way = ways.at(-1); way; way = ways.at(-1)) {
      const id = way.queue.pop();
      const step = id === undefined ? undefined : scope.steps.get(id);
      if (id === undefined) {
        ways.pop();
        if (way.id !== null) {
          open.delete(way.id);
          finished.add(way.id);
        }
      } else if (step && open.has(id)) fault('cycle', step.path, `The step ${id} needs its own value`);
      else if (step && !finished.has(id)) {
        open.add(id);
        ways.push({ id, queue: [...neededBy(step)] });
      }
    }
  };
  follow(scope.outputs.flatMap(({ wire }) => needed(wire)));
  for (const { id, path } of scope.steps.values())
    if (!finished.has(id)) warn('unreachable', path, `Nothing asks for the value of the step ${id}`);
  follow([...scope.steps.keys()]);
};

const checkBranches = (scope: Scope, fault: Report): void => {
  const check = (branches: Wire['branches'], path: string): void => {
    for (const { step } of branches)
      if (scope.steps.get(step)?.kind !== 'context') fault('reference', path, `There is no switch ${step}`);
  };
  for (const step of scope.steps.values()) {
    check(step.branches, step.path);
    for (const { branches } of step.wires) check(branches, step.path);
  }
  for (const { wire } of scope.outputs) check(wire.branches, scope.path);
};

const checkNames = (scope: Scope, warn: Report): void => {
  const names = new Set(scope.incoming.map(({ $id }) => $id));
  const wires = [...scope.steps.values()].flatMap((step) => step.wires).concat(scope.outputs.map(({ wire }) => wire));
  const unknown = new Set(wires.filter(({ step, name }) => step === null && !names.has(name)).map(({ name }) => name));
  for (const name of unknown)
    warn('reference', `${scope.path}/incoming`, `Nothing comes in by the name ${JSON.stringify(name)}`);
  for (const name of new Set(scope.outputs.map((one) => one.name)))
    if (!scope.outgoing.includes(name))
      warn('reference', `${scope.path}/outgoing`, `Nothing goes out by the name ${JSON.stringify(name)}`);
};

const check = (scope: Scope, checks: Checks): void => {
  const { fault, warn } = checks;
  for (const step of scope.steps.values()) checkStep(step, scope, checks);
  checkBranches(scope, fault);
  checkNeeds(scope, fault, warn);
  checkNames(scope, warn);
  for (const one of scope.functions) check(one, checks);
};

const gathered = (): { readonly findings: Finding[]; readonly report: Report } => {
  const findings: Finding[] = [];
  const report: Report = (code, path, message) => {
    if (findings.length < mostFindings) findings.push({ code, path, message });
  };
  return { findings, report };
};

/** Reads a document, finds what is wrong with it and, if nothing is, how to carry it out. It never throws. */
export const planTransformation = (document: unknown): Planned => {
  const [faults, warnings] = [gathered(), gathered()];
  if (!isObject(document)) {
    faults.report('form', '', 'It must be an object');
    return { faults: faults.findings, warnings: [] };
  }
  const scope = scopeOf(document, null, '', faults.report);
  check(scope, { fault: faults.report, warn: warnings.report, checkPattern: patternCheck(faults.report) });
  const found = { faults: faults.findings, warnings: warnings.findings };
  return found.faults.length > 0 ? found : { ...found, plan: { scope } };
};
