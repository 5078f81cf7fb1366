import { randomUUID } from 'node:crypto';
import { type JobEvent, originless } from '../../src/domain/operations-manager/jobs.ts';
import { encode } from '../../src/store/event.ts';
import { connect, createTables } from '../../src/store/sqlite/log.ts';
import { inserter } from '../../src/store/sqlite/transactions.ts';
import { ok } from './people.ts';
import { type Server, startServer } from './process.ts';

const day = 86_400_000;
const actor = { id: 'a1b2c3d4e5f60718293a4b5c', username: 'nora', provenance: 'local' };
const component = { type: 'workflows', name: 'Back up' };

const started: JobEvent = {
  topic: 'jobStarted',
  data: {
    ...{ name: 'Back up', description: '', type: 'workflow', variables: { site: 'Bonn' }, automation: null },
    ...{ component, trigger: null, execution: null, groups: [], watchers: [], ...originless },
  },
};
const completed: JobEvent = { topic: 'jobCompleted', data: { variables: {} } };

export const endedJob = (n: number): string => n.toString(16).padStart(24, '0');

/** Writes a log of so many jobs that ended one after the other, 40 to 32 days ago. */
export const writeEndedJobs = (file: string, jobs: number): void => {
  const db = connect(file);
  createTables(db, file);
  const rows = inserter(db);
  const from = Date.now() - 40 * day;
  let position = 0;
  db.exec('BEGIN');
  for (let n = 0; n < jobs; n++) {
    const stream = `job-${endedJob(n)}`;
    const at = new Date(from + Math.floor((n * 8 * day) / jobs)).toISOString();
    let hash = '';
    for (const [revision, event] of [started, completed].entries()) {
      const id = randomUUID();
      const about = {
        ...{ $correlationId: id, $causationId: id, at, actor, operation: 'tests', requestId: id, schemaVersion: 1 },
      };
      const made = encode({ stream, revision, id, source: '@platform/operations-manager' }, event, about, hash);
      rows.add(++position, stream, revision, id, made.type, made.data, made.metadata);
      hash = made.hash;
    }
  }
  rows.flush();
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
};

export const jobs = '/operations-manager/jobs';

/** How many jobs a node shows; Infinity if it cannot say. */
export const totalOf = async ({ ask }: Pick<Server, 'ask'>): Promise<number> => {
  const { status, body } = await ask('GET', `${jobs}?limit=1`);
  return status === 200 ? body.metadata.total : Infinity;
};

/** Starts a service on such a log. Its newest event is old, so the clock has to be confirmed. */
export const startConfirmed = async (...args: Parameters<typeof startServer>): Promise<Server> => {
  const server = await startServer(...args);
  ok(await server.ask('POST', '/health/clock'));
  return server;
};
