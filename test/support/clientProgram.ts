import { randomUUID } from 'node:crypto';
import { passwordOf } from './accounts.ts';
import { steps, type Tools } from './clientSteps.ts';

// A client of EventStoreDB in a process of its own: libraries of the same protocol cannot be loaded beside each other,
// since the messages of both are in one global variable.

export type Ask = { readonly step: string; readonly urls: Readonly<Record<string, string>> };

const name = process.argv[2]!;
const library = (await import(name)) as Tools['library'] & {
  readonly EventStoreDBClient?: Tools['library']['KurrentDBClient'];
};
const Client = library.EventStoreDBClient ?? library.KurrentDBClient;

process.on('message', async ({ step, urls }: Ask) => {
  const clients: ReturnType<Tools['connect']>[] = [];
  const connect: Tools['connect'] = (account) => {
    const client = Client.connectionString(urls[account]!);
    clients.push(client);
    return client;
  };
  let failure: string | undefined;
  try {
    await steps[step]!({ library, connect, passwordOf, stream: `notes-${randomUUID()}` });
  } catch (error) {
    failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  await Promise.all(clients.map((client) => client.dispose()));
  process.send!({ failure });
});
