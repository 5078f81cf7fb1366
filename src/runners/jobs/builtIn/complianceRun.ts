import { gathering, mutex, runAtOnce, turns } from '@automation-platform/concurrency';
import { addTotals, gradeOf, noTotals } from '@automation-platform/configurations';
import { isObject, type Members } from '@automation-platform/json';
import {
  batchOf,
  beginComplianceBatch,
  endComplianceBatch,
  storeComplianceReport,
} from '../../../commands/configuration-manager/complianceBatches.ts';
import type { DeviceCopies } from '../../../commands/configuration-manager/deviceBackups.ts';
import {
  compareAlone,
  type DeviceFacts,
  deviceChecks,
  orReason,
} from '../../../commands/configuration-manager/deviceChecks.ts';
import { mayRead } from '../../../commands/engine/access.ts';
import type { Tools } from '../../../commands/engine/define.ts';
import type { Handle } from '../../../commands/engine/handle.ts';
import { requestFor } from '../../../commands/engine/reactions.ts';
import {
  type BatchNode,
  type BatchStart,
  type Checks,
  complianceBatch,
} from '../../../domain/configuration-manager/complianceBatches.ts';
import {
  type Checked,
  complianceReport,
  type StoredReport,
} from '../../../domain/configuration-manager/complianceReports.ts';
import { deviceBackup, inventoriesOfSources } from '../../../domain/configuration-manager/deviceBackups.ts';
import { usualThrottle } from '../../../domain/configuration-manager/planSchemas.ts';
import { plan } from '../../../domain/configuration-manager/plans.ts';
import { lastOf, lineAt, linesOf, lineTo, pathOf } from '../../../domain/configuration-manager/treeNodes.ts';
import { tree, versionOf } from '../../../domain/configuration-manager/trees.ts';
import type { Actor } from '../../../domain/engine/core.ts';
import { defined } from '../../../domain/engine/defined.ts';
import { RequestError } from '../../../domain/engine/requestError.ts';
import { type DeviceBackupDoc, deviceBackups } from '../../../projections/configuration-manager/deviceBackups.ts';
import { plans } from '../../../projections/configuration-manager/plans.ts';
import { trees } from '../../../projections/configuration-manager/trees.ts';
import type { ReadModel } from '../../../projections/engine/port.ts';
import type { Compared, ComparisonRun, Devices, Renderer } from '../../../southbound/port.ts';
import { derivedId } from '../../../store/derivedIds.ts';
import { type DeviceFailure, groupDevices } from './groupDevices.ts';
import { namesIn } from './namedDevices.ts';
import { type Operation, type Run, RunEnded } from './run.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Tools;
  readonly model: ReadModel;
  readonly devices: Pick<Devices, 'seenBy' | 'order'>;
  readonly copies: Pick<DeviceCopies, 'textOf'>;
  readonly renderer: Pick<Renderer, 'compare'>;
  /** Keyed digest of a text. */
  readonly digest: (text: string) => string;
  /** The wall clock, in epoch milliseconds. */
  readonly now: () => number;
};

const mostPairs = 10_000;
/** The number of failures in the variables of the job and in the event. The reports have all. */
const mostFailures = 1000;

/** True if the job's variables limit it to some devices. */
const isLimited = ({ devices, device, deviceGroups }: Members): boolean =>
  [devices, device, deviceGroups].some((names) => names !== undefined);

/** A device, or a copy of its configuration, with the nodes that it is checked against. */
type Target = { readonly device: string; readonly backupId?: string; readonly nodes: readonly BatchNode[] };

/** The most comparisons in one message to the engine, which has a second for all of them. */
const mostTogether = 16;
const mostCharacters = 512 * 1024;

const sizeOf = ({ configuration, texts }: ComparisonRun): number =>
  texts.reduce((sum, text) => sum + text.length, configuration.length);

const isFewWith = (runs: readonly ComparisonRun[], more: ComparisonRun): boolean =>
  runs.length < mostTogether && runs.reduce((sum, run) => sum + sizeOf(run), sizeOf(more)) <= mostCharacters;

/**
 * Compares what comes while a comparison is under way together with what comes after it. The engines compare for an account
 * one after another; of its runs together, one comparison waits there, so that people wait for no more than that.
 */
const comparing = (
  renderer: Needs['renderer'],
  inOrder: ReturnType<typeof mutex>,
  evaluation: { readonly account: string; readonly signal: AbortSignal },
): ((one: ComparisonRun) => Promise<Compared>) => {
  const { account } = evaluation;
  const alone = compareAlone(renderer.compare, evaluation);
  const together = async (runs: readonly ComparisonRun[]): Promise<readonly (Compared | Promise<Compared>)[]> => {
    try {
      return await inOrder(account, () => renderer.compare(runs, evaluation));
    } catch (error) {
      const isTooMuch = error instanceof RequestError && (error.code === 'unprocessable' || error.code === 'limited');
      if (runs.length === 1 || !isTooMuch) throw error;
      // Perhaps one of them takes too long: each by itself.
      return runs.map((run) => inOrder(account, () => alone(run)));
    }
  };
  return gathering({ work: together, fits: isFewWith });
};

const reportId = (batchId: string, { device, backupId }: Target, { treeId, version, nodeId }: BatchNode): string =>
  derivedId(['report', batchId, treeId, version, nodeId, device, ...(backupId ? [backupId] : [])].join(' '));

/** Reads nodes of trees as they were when the run began, each once. */
const nodesThen = (tools: Pick<Tools, 'version'>) => {
  const read = async ({ treeId, version: name, nodeId, revision }: BatchNode) => {
    const { state } = await tools.version(tree, treeId, revision);
    const version = versionOf(state, name);
    const line = lineTo(version.root, nodeId);
    if (!line) throw new Error('The version has no such node any more');
    const checked: Checked = { treeId, version, line };
    return { state, checked };
  };
  const all = new Map<BatchNode, ReturnType<typeof read>>();
  return (node: BatchNode): ReturnType<typeof read> => {
    const found = all.get(node) ?? read(node);
    all.set(node, found);
    return found;
  };
};

const targetsOf = ({ nodes }: BatchStart): readonly Target[] => {
  const byDevice = new Map<string, { readonly device: string; readonly nodes: BatchNode[] }>();
  for (const node of nodes)
    for (const [i, device] of node.devices.entries()) {
      const backupId = node.copies?.[i];
      const key = backupId ?? `device ${device}`;
      const target = byDevice.get(key) ?? { device, nodes: [], ...defined({ backupId }) };
      target.nodes.push(node);
      byDevice.set(key, target);
    }
  return [...byDevice.values()];
};

/** The pairs of device and node that a run begins with: those of a plan, or of checks that follow none. */
const complianceStarts = (needs: Pick<Needs, 'tools' | 'model' | 'devices'>) => {
  const { tools } = needs;
  const devicesIn = groupDevices(needs);

  const copiesIn = async (ids: readonly string[], actor: Actor, failures: DeviceFailure[]) => {
    const found: DeviceBackupDoc[] = [];
    for (const id of ids) {
      // The read models of this node may be behind the one that took the request.
      const doc = await tools.shown(deviceBackups, id);
      if (doc && tools.mayRead(deviceBackups, doc, actor)) found.push(doc);
      else failures.push({ device: id, reason: `There is no copy ${JSON.stringify(id)}` });
    }
    return found;
  };

  /** The devices that the job's variables limit it to; undefined: all. */
  const limitIn = async (
    { devices, device, deviceGroups: groups }: Members,
    actor: Actor,
    failed: DeviceFailure[],
  ): Promise<ReadonlySet<unknown> | undefined> => {
    const named = devices === undefined && device !== undefined ? [device] : namesIn(devices, 'devices');
    const ofGroups = await devicesIn(namesIn(groups, 'deviceGroups'), actor, failed);
    return isLimited({ devices, device, deviceGroups: groups }) ? new Set([...named, ...ofGroups]) : undefined;
  };

  const planStart = async ({ job, inputs, started, step }: Run): Promise<BatchStart> => {
    const actor = await step();
    const id = typeof inputs.plan === 'string' ? await tools.find(plans, inputs.plan) : undefined;
    const { exists, content } = id === undefined ? plan.initial : await tools.state(plan, id);
    if (id === undefined || !exists || !mayRead(actor, content.gbac))
      throw new RunEnded(`There is no compliance plan ${JSON.stringify(inputs.plan)}`);
    if (started.data.automation !== null && content.status === 'draft')
      throw new RunEnded(`The compliance plan ${JSON.stringify(content.name)} is a draft`);
    const failed: DeviceFailure[] = [];
    const limit = await limitIn(inputs, actor, failed);
    const nodes: BatchNode[] = [];
    for (const {
      treeId,
      version,
      nodeId,
      variables,
      devices: named = [],
      deviceGroups: groups = [],
    } of content.nodes) {
      const { state, revision } = await tools.version(tree, treeId);
      const line = lineTo(versionOf(state, version).root, nodeId);
      if (!line) throw new RunEnded(`The tree ${JSON.stringify(state.name)} has no node ${JSON.stringify(nodeId)}`);
      const all = [...new Set([...named, ...(await devicesIn(groups, actor, failed))])];
      const node = { treeId, version, nodeId, nodePath: pathOf(line), revision };
      const checked = limit ? all.filter((device) => limit.has(device)) : all;
      if (checked.length > 0) nodes.push({ ...node, ...(variables && { variables }), devices: checked });
    }
    const { throttle, grading } = content;
    return { job, plan: id, nodes, failed, ...defined({ throttle, grading: grading ?? undefined }) };
  };

  const checksStart = async ({ job, inputs, step }: Run): Promise<BatchStart> => {
    const actor = await step();
    if (!isObject(inputs.options)) throw new RunEnded('The variable options must be an object');
    const {
      treeId: named,
      version,
      nodePath,
      devices: ofRequest,
      deviceGroups: groups,
      variables,
      backupIds,
    } = inputs.options as Checks;
    const id = await tools.find(trees, named);
    if (id === undefined) throw new RunEnded(`There is no tree ${JSON.stringify(named)}`);
    const { state, revision } = await tools.version(tree, id);
    const { root } = versionOf(state, version);
    const line = nodePath === undefined ? ([root] as const) : lineAt(root, nodePath, 'nodePath');
    const failed: DeviceFailure[] = [];
    const own = { treeId: id, version, revision, ...(variables && { variables }) };
    const nodeWith = (nodeId: string, path: string, names: readonly string[]): BatchNode[] =>
      names.length === 0 ? [] : [{ ...own, nodeId, nodePath: path, devices: [...new Set(names)] }];
    if (backupIds) {
      const node = { ...own, nodeId: lastOf(line).configId, nodePath: pathOf(line) };
      const found = await copiesIn(backupIds, actor, failed);
      const devices = found.map(({ name }) => name);
      const nodes = found.length > 0 ? [{ ...node, devices, copies: found.map(({ _id }) => _id) }] : [];
      return { job, plan: null, nodes, failed };
    }
    if (ofRequest || groups) {
      const names = [...(ofRequest ?? []), ...(await devicesIn(groups ?? [], actor, failed))];
      return { job, plan: null, nodes: nodeWith(lastOf(line).configId, pathOf(line), names), failed };
    }
    const nodes: BatchNode[] = [];
    for (const below of linesOf(lastOf(line))) {
      const node = lastOf(below);
      const path = [...line.slice(0, -1), ...below].map(({ name }) => name).join('/');
      const names = [...(node.devices ?? []), ...(await devicesIn(node.deviceGroups ?? [], actor, failed))];
      nodes.push(...nodeWith(node.configId, path, names));
    }
    return { job, plan: null, nodes, failed };
  };

  return { planStart, checksStart };
};

/**
 * Checks of devices against golden configurations. A run only reads. Its pairs of device and node are stored as it begins,
 * and a report for each: a run that was broken off goes on with the pairs that have none.
 */
export const complianceRuns = ({ handle, tools, model, devices, copies, renderer, digest, now }: Needs) => {
  const { planStart, checksStart } = complianceStarts({ tools, model, devices });
  const inOrder = mutex();

  /** The pairs of the run as they were stored when it began; `isNew` if it begins now. */
  const beginning = async (
    run: Run,
    startOf: (run: Run) => Promise<BatchStart>,
  ): Promise<{ readonly batch: BatchStart; readonly isNew: boolean }> => {
    const id = batchOf(run.job);
    const { started: before } = await tools.state(complianceBatch, id);
    if (before) return { batch: before, isNew: false };
    await run.step();
    const input = await startOf(run);
    const pairs = input.nodes.reduce((sum, node) => sum + node.devices.length, 0);
    // A change of a device that the plan does not have starts its jobs as well.
    const isOfOthers = run.started.data.automation !== null && isLimited(run.inputs);
    if (pairs === 0 && !isOfOthers) throw new RunEnded('There are no devices to check');
    if (pairs > mostPairs)
      throw new RunEnded(`A run may check ${mostPairs} pairs of device and node; these are ${pairs}`);
    const named = input.nodes.flatMap((node) => (node.copies ? [] : node.devices));
    const ofDevices = await devices.seenBy(await run.step()).inventoriesOf([...new Set(named)]);
    const copied = await Promise.all(
      input.nodes.flatMap((node) => node.copies ?? []).map((copy) => tools.state(deviceBackup, copy)),
    );
    const ofCopies = inventoriesOfSources(copied.flatMap(({ copy }) => copy?.source ?? []));
    const inventories = [...new Set([...ofDevices, ...ofCopies])];
    const begin = { ...requestFor(run.started), id, input: { ...input, inventories } };
    const { changed: isNew } = await handle(beginComplianceBatch, begin);
    return { batch: (await tools.state(complianceBatch, id)).started ?? input, isNew };
  };

  const runWith =
    (startOf: (run: Run) => Promise<BatchStart>): Operation =>
    async (run) => {
      const { job, started, signal, step } = run;
      const batchId = batchOf(job);
      const { batch, isNew } = await beginning(run, startOf);
      const inventories = new Set<string>();
      const nameInventory = (id: string): void => {
        inventories.add(id);
        run.names(id);
      };
      batch.inventories?.forEach(nameInventory);
      let totals = noTotals;
      const failures = new Map<string, DeviceFailure>();
      // A device in several nodes is named once for each reason.
      const fail = (failure: DeviceFailure): unknown => failures.set(JSON.stringify(failure), failure);
      batch.failed.forEach(fail);
      const count = ({ deviceName, status, reason, totals: more, inventory }: StoredReport): void => {
        if (inventory != null) nameInventory(inventory);
        totals = addTotals(totals, more);
        if (status === 'error') fail({ device: deviceName, reason: reason ?? '' });
      };
      const compare = comparing(renderer, inOrder, { account: started.metadata.actor.id, signal });
      // Many outcomes come at once: each goes on in its turn.
      const turn = turns();
      const checks = deviceChecks({
        tools,
        model,
        devices,
        digest,
        compare: (one) => compare(one).finally(turn),
      });

      const targets = targetsOf(batch);
      /** A copy is of the device of its own source: one of that name elsewhere says nothing about it. */
      const factsOf = async ({ device, backupId }: Target, actor: Actor): Promise<DeviceFacts> => {
        const facts = await checks.factsOf(device, actor);
        const { copy } = backupId === undefined ? {} : await tools.state(deviceBackup, backupId);
        if (!copy) return facts;
        const { source, ostype } = copy;
        const isOfSource = facts.source?.kind === source.kind && facts.source.id === source.id;
        const found: DeviceFacts = isOfSource ? facts : { device: { name: device } };
        const [own = found.inventory] = inventoriesOfSources([source]);
        return { device: { ...found.device, ...defined({ ostype }) }, ...defined({ inventory: own }) };
      };

      /** The configuration of a device as it is, or that of its copy. Many may answer at once: each goes on in its turn. */
      const textOf = async ({ device, backupId }: Target, actor: Actor): Promise<string> => {
        await turn();
        if (backupId === undefined)
          return devices.seenBy(actor).calls(started.metadata.traceparent, signal).configuration(device);
        const doc = await tools.shown(deviceBackups, backupId);
        if (doc && tools.mayRead(deviceBackups, doc, actor)) return copies.textOf(backupId);
        throw new RequestError('not_found', 'The copy is not there any more');
      };

      const nodeThen = nodesThen(tools);

      /** Reads the device once, for all nodes that have no report on it yet. */
      const checkDevice = async (target: Target): Promise<void> => {
        let configuration: string | { readonly reason: string } | undefined;
        let facts: DeviceFacts | undefined;
        for (const node of target.nodes) {
          const id = reportId(batchId, target, node);
          const { report: before } = isNew ? {} : await tools.state(complianceReport, id);
          if (before) {
            count(before);
            continue;
          }
          const actor = await step();
          configuration ??= await orReason(() => textOf(target, actor)).finally(turn);
          // A call that was broken off says nothing of the device.
          signal.throwIfAborted();
          facts ??= await factsOf(target, actor);
          const { device, inventory = null } = facts;
          const { state, checked } = await nodeThen(node);
          const subject = { device, configuration, timestamp: new Date(now()).toISOString() };
          const report = await checks.check(state, checked, subject, {
            variables: node.variables as Members | undefined,
            grading: batch.grading,
          });
          const { backupId } = target;
          const input = { ...report, id, batchId, planId: batch.plan, inventory, ...defined({ backupId }) };
          signal.throwIfAborted();
          await handle(storeComplianceReport, { ...requestFor(started), id, input, fresh: true, background: true });
          count(input);
        }
      };

      await runAtOnce(targets, batch.throttle ?? usualThrottle, checkDevice);

      await step();
      const { grade } = gradeOf(totals, batch.grading);
      const input = { totals, grade, devices: targets.length, failed: [...failures.values()].slice(0, mostFailures) };
      const end = { ...input, inventories: [...inventories] };
      await handle(endComplianceBatch, { ...requestFor(started), id: batchId, input: end });
      return { batchId, ...input };
    };

  return { ucm_compliance_plans: runWith(planStart), 'compliance-run': runWith(checksStart) };
};
