import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { wordsIn } from '@automation-platform/client';
import { isObject, type Members } from '@automation-platform/json';
import { stopSignal } from '../../process/program.ts';
import {
  type Access,
  accessFrom,
  askHelp,
  askOptions,
  messageOf,
  noAnswer,
  type Platform,
  platformAt,
} from '../askService.ts';
import { argument, command, flag, option } from '../engine/command.ts';
import { progressLine, type Terminal } from '../progress.ts';
import { type Column, type RecordOutput, recordWriter } from '../records.ts';

export const inventorySync = command({
  name: 'inventory sync',
  about: 'Give an inventory the nodes of its source, or of a file, through the running service',
  args: { inventory: argument('its id or name') },
  options: {
    file: option(
      '<file>',
      'CSV (*.csv), or what ansible-inventory --list prints; without it, the source of the inventory',
    ),
    dryRun: flag('nothing changes: it shows what would'),
    ...askOptions,
  },
  help: askHelp,
  run: async ({ inventory, file, dryRun, ...asking }) => {
    const order = { inventory, dryRun: dryRun === true, ...(file !== undefined && { source: sourceIn(file) }) };
    await syncInventory(order, await accessFrom(asking), stopSignal('Stopped'));
    return 0;
  },
});

const sourceIn = (file: string) => ({
  type: file.toLowerCase().endsWith('.csv') ? 'csv' : 'ansible',
  text: readFileSync(file, 'utf8'),
});

type Order = {
  readonly inventory: string;
  readonly dryRun: boolean;
  readonly source?: ReturnType<typeof sourceIn>;
};

type Row = { readonly change: string; readonly node: string };

const columns: readonly Column<Row>[] = [
  { heading: 'change', width: 8, text: ({ change }) => change },
  { heading: 'node', width: 60, text: ({ node }) => node },
];

const kinds = ['added', 'changed', 'removed', 'leftOut'] as const;

const ended: readonly unknown[] = ['complete', 'error', 'canceled', 'incomplete'];

/** The job once it has ended; meanwhile a terminal shows for how long that takes. */
const endOf = async (id: string, { ask }: Platform, signal: AbortSignal, errors: Terminal): Promise<Members> => {
  const progress = progressLine(errors);
  const began = performance.now();
  try {
    for (;;) {
      const { status, body } = await ask({ method: 'GET', path: `/operations-manager/jobs/${encodeURIComponent(id)}` });
      if (status !== 200) throw new Error(messageOf(body, status));
      const job = isObject(body) && isObject(body.data) ? body.data : {};
      if (ended.includes(job.status)) return job;
      const seconds = Math.round((performance.now() - began) / 1000);
      progress.show(() => `The source is being read [${'#'.repeat(seconds % 20).padEnd(20, '.')}] ${seconds} s`);
      await pause(300, undefined, { signal });
    }
  } finally {
    progress.end();
  }
};

/** Syncs an inventory and shows what differs. Throws with the reason if it does not go well; then nothing has changed. */
export const syncInventory = async (
  { inventory, ...order }: Order,
  access: Access,
  signal: AbortSignal,
  { output = process.stdout, errors = process.stderr }: { output?: RecordOutput; errors?: Terminal } = {},
): Promise<void> => {
  const platform = platformAt(access, signal);
  const { status, body } = await platform.ask({
    method: 'POST',
    path: `/inventory_manager/v1/inventories/${encodeURIComponent(inventory)}/sync`,
    body: JSON.stringify(order),
    headers: { 'idempotency-key': randomUUID() },
  });
  if (status !== 200) throw new Error(messageOf(body, status));
  const jobId = isObject(body) ? body.jobId : undefined;
  if (typeof jobId !== 'string') throw noAnswer(access);
  const job = await endOf(jobId, platform, signal, errors);
  if (job.status !== 'complete')
    throw new Error(typeof job.error === 'string' ? wordsIn(job.error) : `The job has ended: ${String(job.status)}`);
  const variables = isObject(job.variables) ? job.variables : {};
  const writer = recordWriter(output, columns);
  for (const what of kinds) {
    const names: unknown = variables[what];
    for (const name of Array.isArray(names) ? names : []) await writer.write({ change: what, node: String(name) });
  }
  const counts = isObject(variables.counts) ? variables.counts : {};
  errors.write(
    `${order.dryRun ? 'Nothing has changed. It would be: ' : ''}${kinds.map((what) => `${what} ${String(counts[what] ?? 0)}`).join(', ')}\n`,
  );
};
