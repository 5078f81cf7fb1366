import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { serveLog } from '@automation-platform/esdb-server';
import { readerPlaces } from '../../src/http/events/readerPlaces.ts';
import { authorityFile, ownCertificate } from '../../src/secrets/certificate.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { memoryEventStore } from '../../test/support/memoryEventStore.ts';
import { scriptedEventStore } from '../../test/support/scriptedEventStore.ts';

// A log behind EventStoreDB's protocol, with TLS: the embedded one, or an echo that keeps what it is sent in arrays.

export type GrpcLog = { readonly by: 'log' | 'echo'; readonly folder: string };

process.on('message', async ({ by, folder }: GrpcLog) => {
  mkdirSync(folder, { recursive: true });
  const log = (message: string, about: Record<string, unknown>): void =>
    void process.stderr.write(`${message} ${JSON.stringify(about)}\n`);
  const certificate = await ownCertificate(folder, 'localhost', log);
  const { port } =
    by === 'echo'
      ? await scriptedEventStore(memoryEventStore().handlers, { tls: certificate })
      : await serveLog({
          store: await openSqliteStore({ file: join(folder, 'events.db') }),
          host: '127.0.0.1',
          port: 0,
          certificate,
          own: () => true,
          reserved: () => false,
          authorize: async () => ({ account: 'bench', rights: () => () => true }),
          places: readerPlaces({ perNode: 1024 }),
          report: (err) => log('gRPC call failed', { err }),
        });
  process.send!(`esdb://bench:bench@localhost:${port}?tlsCAFile=${authorityFile(folder)}`);
});
