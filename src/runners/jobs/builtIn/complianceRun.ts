import { isObject, type Members } from '@automation-platform/json';
import {
  batchOf,
  beginComplianceBatch,
  endComplianceBatch,
  storeComplianceReport,
} from '../../../commands/configuration-manager/complianceBatches.ts';
import { deviceChecks, orReason } from '../../../commands/configuration-manager/deviceChecks.ts';
import { mayRead } from '../../../commands/engine/access.ts';
import type { Tools } from '../../../commands/engine/define.ts';
import type { Handle } from '../../../commands/engine/handle.ts';
import { requestFor } from '../../../commands/engine/reactions.ts';
import { runAtOnce } from '../../../concurrency/runAtOnce.ts';
import { addTotals, gradeOf, noTotals } from '../../../domain/configuration-manager/comparing/score.ts';
import {
  type BatchNode,
  type BatchStart,
  type Checks,
  complianceBatch,
} from '../../../domain/configuration-manager/complianceBatches.ts';
import {
  type CheckedDevice,
  complianceReport,
  type StoredReport,
} from '../../../domain/configuration-manager/complianceReports.ts';
import { usualThrottle } from '../../../domain/configuration-manager/planSchemas.ts';
import { plan } from '../../../domain/configuration-manager/plans.ts';
import { lastOf, lineAt, linesOf, lineTo, pathOf } from '../../../domain/configuration-manager/treeNodes.ts';
import { tree, versionOf } from '../../../domain/configuration-manager/trees.ts';
import { defined } from '../../../domain/engine/defined.ts';
import { plans } from '../../../projections/configuration-manager/plans.ts';
import { trees } from '../../../projections/configuration-manager/trees.ts';
import type { ReadModel } from '../../../projections/engine/port.ts';
import type { Devices, Renderer } from '../../../southbound/port.ts';
import { derivedId } from '../../../store/derivedIds.ts';
import { type DeviceFailure, groupDevices } from './groupDevices.ts';
import { type Operation, type Run, RunEnded } from './run.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Tools;
  readonly model: ReadModel;
  readonly devices: Pick<Devices, 'seenBy' | 'order'>;
  readonly renderer: Pick<Renderer, 'compare'>;
  /** Keyed digest of a text. */
  readonly digest: (text: string) => string;
  /** The wall clock, in epoch milliseconds. */
  readonly now: () => number;
};

const mostPairs = 10_000;
/** So many failures are in the variables of the job and in the event. The reports have all. */
const mostFailures = 1000;

/** The devices that the job's variables limit it to; undefined: all. */
const limitIn = ({ devices, device }: Members): ReadonlySet<unknown> | undefined => {
  if (devices !== undefined && !Array.isArray(devices))
    throw new RunEnded('The variable devices must be a list of names of devices');
  const names: readonly unknown[] | undefined = devices ?? (device === undefined ? undefined : [device]);
  return names && new Set(names);
};

/** The pairs of device and node that a run begins with: those of a plan, or of checks that follow none. */
const complianceStarts = (needs: Pick<Needs, 'tools' | 'model' | 'devices'>) => {
  const { tools } = needs;
  const devicesIn = groupDevices(needs);

  const planStart = async ({ job, inputs, started, step }: Run): Promise<BatchStart> => {
    const actor = await step();
    const id = typeof inputs.plan === 'string' ? await tools.find(plans, inputs.plan) : undefined;
    const { exists, content } = id === undefined ? plan.initial : await tools.state(plan, id);
    if (id === undefined || !exists || !mayRead(actor, content.gbac))
      throw new RunEnded(`There is no compliance plan ${JSON.stringify(inputs.plan)}`);
    if (started.data.automation !== null && content.status === 'draft')
      throw new RunEnded(`The compliance plan ${JSON.stringify(content.name)} is a draft`);
    const limit = limitIn(inputs);
    const failed: DeviceFailure[] = [];
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
export const complianceRuns = ({ handle, tools, model, devices, renderer, digest, now }: Needs) => {
  const { planStart, checksStart } = complianceStarts({ tools, model, devices });

  /** The pairs of the run as they were stored when it began. */
  const beginning = async (run: Run, startOf: (run: Run) => Promise<BatchStart>): Promise<BatchStart> => {
    const id = batchOf(run.job);
    const { started: before } = await tools.state(complianceBatch, id);
    if (before) return before;
    await run.step();
    const input = await startOf(run);
    const pairs = input.nodes.reduce((sum, node) => sum + node.devices.length, 0);
    if (pairs === 0) throw new RunEnded('There are no devices to check');
    if (pairs > mostPairs)
      throw new RunEnded(`A run may check ${mostPairs} pairs of device and node; these are ${pairs}`);
    await handle(beginComplianceBatch, { ...requestFor(run.started), id, input });
    return (await tools.state(complianceBatch, id)).started ?? input;
  };

  const runWith =
    (startOf: (run: Run) => Promise<BatchStart>): Operation =>
    async (run) => {
      const { job, started, signal, step } = run;
      const batchId = batchOf(job);
      const batch = await beginning(run, startOf);
      let totals = noTotals;
      const failures = new Map<string, DeviceFailure>();
      // A device in several nodes is named once for each reason.
      const fail = (failure: DeviceFailure): unknown => failures.set(JSON.stringify(failure), failure);
      batch.failed.forEach(fail);
      const count = ({ deviceName, status, reason, totals: more }: StoredReport): void => {
        totals = addTotals(totals, more);
        if (status === 'error') fail({ device: deviceName, reason: reason ?? '' });
      };
      const checks = deviceChecks({
        tools,
        model,
        devices,
        digest,
        compare: (one) => renderer.compare(one, { account: started.metadata.actor.id, signal }),
      });

      const byDevice = new Map<string, BatchNode[]>();
      for (const node of batch.nodes)
        for (const device of node.devices) byDevice.set(device, [...(byDevice.get(device) ?? []), node]);
      const reportId = (device: string, { treeId, version, nodeId }: BatchNode): string =>
        derivedId(`report ${batchId} ${treeId} ${version} ${nodeId} ${device}`);

      /** Reads the device once, for all nodes that have no report on it yet. */
      const checkDevice = async (device: string, nodes: readonly BatchNode[]): Promise<void> => {
        let configuration: string | { readonly reason: string } | undefined;
        let facts: CheckedDevice | undefined;
        for (const node of nodes) {
          const id = reportId(device, node);
          const { report: before } = await tools.state(complianceReport, id);
          if (before) {
            count(before);
            continue;
          }
          const actor = await step();
          const { calls } = devices.seenBy(actor);
          configuration ??= await orReason(() => calls(started.metadata.traceparent, signal).configuration(device));
          // A call that was broken off says nothing of the device.
          signal.throwIfAborted();
          facts ??= await checks.factsOf(device, actor);
          const { state } = await tools.version(tree, node.treeId, node.revision);
          const version = versionOf(state, node.version);
          const line = lineTo(version.root, node.nodeId);
          if (!line) throw new Error('The version has no such node any more');
          const subject = { device: facts, configuration, timestamp: new Date(now()).toISOString() };
          const report = await checks.check(state, { treeId: node.treeId, version, line }, subject, {
            variables: node.variables as Members | undefined,
            grading: batch.grading,
          });
          const input = { ...report, id, batchId, planId: batch.plan };
          signal.throwIfAborted();
          await handle(storeComplianceReport, { ...requestFor(started), id, input });
          count(input);
        }
      };

      await runAtOnce([...byDevice], batch.throttle ?? usualThrottle, (one) => checkDevice(...one));

      await step();
      const { grade } = gradeOf(totals, batch.grading);
      const input = { totals, grade, devices: byDevice.size, failed: [...failures.values()].slice(0, mostFailures) };
      await handle(endComplianceBatch, { ...requestFor(started), id: batchId, input });
      return { batchId, ...input };
    };

  return { ucm_compliance_plans: runWith(planStart), 'compliance-run': runWith(checksStart) };
};
