import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { appending } from './appending.ts';
import { asking } from './asking.ts';
import { backInTime } from './backInTime.ts';
import { changing } from './changing.ts';
import type { Comparison, Findings } from './compare.ts';
import { comparing, manyReports, runningPlans } from './compliance.ts';
import { manyConsoles, openingViews, tailing } from './console.ts';
import { costing } from './costing.ts';
import { changingDevices, copyingDevice, diffing } from './devices.ts';
import { eventstoredb } from './eventstoredb.ts';
import { firing } from './firing.ts';
import { callers, hashedLogins, logins } from './identity.ts';
import { inventories } from './inventories.ts';
import { listing } from './listing.ts';
import { logOverGrpc } from './logOverGrpc.ts';
import { moving } from './moving.ts';
import { nodes } from './nodes.ts';
import { cleanUp } from './processes.ts';
import { projecting } from './projecting.ts';
import { proving } from './proving.ts';
import { reading } from './reading.ts';
import { replaying } from './replaying.ts';
import { retiring } from './retiring.ts';
import { readingWrites, takingOver, twoNodes } from './severalNodes.ts';
import { startingUp } from './startingUp.ts';
import { table } from './table.ts';
import { telling } from './telling.ts';
import { triggering } from './triggering.ts';
import { besideChains, claimingTasks, joining, longJobs, runningChains, waitingJobs } from './workflows.ts';
import { working } from './working.ts';

// npm run bench [-- a c ...]: measures all parts or those named, and prints one table. `workflows` names all parts whose names begin so.

const parts: Readonly<Record<string, () => Promise<Findings>>> = {
  a: reading,
  b: changing,
  c: appending,
  d: replaying,
  e: startingUp,
  f: listing,
  g: nodes,
  h: logOverGrpc,
  i: twoNodes,
  j: takingOver,
  k: projecting,
  l: readingWrites,
  m: eventstoredb,
  n: triggering,
  o: firing,
  p: telling,
  q: asking,
  r: moving,
  s: backInTime,
  t: retiring,
  u: proving,
  v: costing,
  w: working,
  'identity.callers': callers,
  'identity.logins': logins,
  'identity.hashed': hashedLogins,
  'compliance.comparing': comparing,
  'compliance.running': runningPlans,
  'compliance.reports': manyReports,
  'devices.changes': changingDevices,
  'devices.copies': copyingDevice,
  'devices.diffs': diffing,
  inventories,
  'console.opening': openingViews,
  'console.tail': tailing,
  'console.many': manyConsoles,
  'workflows.chains': runningChains,
  'workflows.tasks': claimingTasks,
  'workflows.long': longJobs,
  'workflows.joins': joining,
  'workflows.others': besideChains,
  'workflows.waiting': waitingJobs,
};

const wanted = process.argv.slice(2);
const isMeant = (part: string, name: string): boolean => part === name || part.startsWith(`${name}.`);
const unknown = wanted.filter((name) => !Object.keys(parts).some((part) => isMeant(part, name)));
if (unknown.length > 0)
  throw new Error(`No such part: ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}`);

// The programs of this folder run compiled like the service: what tsx adds to functions would be measured, too.
const root = fileURLToPath(new URL('..', import.meta.url));
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'bench/tsconfig.json'], {
  cwd: root,
  stdio: 'inherit',
});

process.once('exit', cleanUp);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const comparisons: Comparison[] = [];
const notes: string[] = [];
for (const [name, measure] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.some((one) => isMeant(name, one))) continue;
  const findings = await measure();
  comparisons.push(...findings.comparisons);
  notes.push(...(findings.notes ?? []));
}

const { model } = cpus()[0]!;
process.stdout.write(
  `${table(comparisons)}\n\n${[
    `Node ${process.version}, ${cpus().length} x ${model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB.`,
    ...notes,
  ]
    .map((note) => `- ${note}`)
    .join('\n')}\n`,
);
process.exit();
