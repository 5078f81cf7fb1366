import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa, { type Context, type Middleware } from 'koa';
import { koaBody } from 'koa-body';
import { connect, createTables } from '../../src/store/sqlite/log.ts';
import type { Answer } from '../requests.ts';

// What the service is compared with: Koa and nothing that is not needed to send the same bytes.

export type Kind =
  /** Sends what was recorded for each URL. */
  | { readonly kind: 'recorded'; readonly answers: ReadonlyMap<string, Answer> }
  /** Reads the body, then sends the same answer to everybody. */
  | { readonly kind: 'body'; readonly answer: Answer }
  /** The same, and before it answers it stores an event in a table like the service's, durably. */
  | {
      readonly kind: 'commit';
      readonly answer: Answer;
      readonly file: string;
      readonly event: { readonly data: string; readonly metadata: string };
    };

const send = (ctx: Context, { status, headers, body }: Answer): void => {
  ctx.status = status;
  ctx.set({ ...headers });
  if (status !== 304) ctx.body = body;
};

// A statement does not keep its connection: one that nobody holds is closed when memory is collected.
const connections: unknown[] = [];

const committer = (
  file: string,
  { data, metadata }: { readonly data: string; readonly metadata: string },
): ((stream: string) => void) => {
  const db = connect(file);
  connections.push(db);
  createTables(db, file);
  const insert = db.prepare(
    'INSERT INTO events (stream, revision, id, type, data, metadata) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const revisions = new Map<string, number>();
  return (stream) => {
    const revision = (revisions.get(stream) ?? -1) + 1;
    insert.run(stream, revision, randomUUID(), '@platform/group-mappings:groupMappingUpdated', data, metadata);
    revisions.set(stream, revision);
  };
};

const middlewares = (order: Kind): Middleware[] => {
  if (order.kind === 'recorded') return [(ctx) => send(ctx, order.answers.get(ctx.url)!)];
  if (order.kind === 'body') return [koaBody(), (ctx) => send(ctx, order.answer)];
  const commit = committer(order.file, order.event);
  return [
    koaBody(),
    (ctx) => {
      commit(ctx.path);
      send(ctx, order.answer);
    },
  ];
};

process.on('message', async (order: Kind) => {
  const koa = new Koa();
  for (const middleware of middlewares(order)) koa.use(middleware);
  const server = createServer(koa.callback()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send!((server.address() as AddressInfo).port);
});
process.on('disconnect', () => process.exit());
