import { Client } from 'ldapts';

// Asks a directory by hand what a login asks it: where is the person, and is the password theirs.

export type Calls = {
  readonly url: string;
  readonly ca: string;
  readonly uids: readonly string[];
  readonly atOnce: number;
};

/** Milliseconds that all took. */
const callAll = async ({ url, ca, uids, atOnce }: Calls): Promise<number> => {
  const left = uids.values();
  const login = async (uid: string): Promise<void> => {
    const client = new Client({ url, tlsOptions: { ca } });
    const { searchEntries } = await client.search('ou=people,dc=example', { filter: `(uid=${uid})`, sizeLimit: 2 });
    await client.bind(searchEntries[0]!.dn, `password of ${uid}`);
    await client.unbind();
  };
  const caller = async (): Promise<void> => {
    for (const uid of left) await login(uid);
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: atOnce }, caller));
  return performance.now() - began;
};

process.on('message', (order: Calls) => {
  callAll(order).then(
    (took) => process.send!(took),
    (error: Error) => process.send!({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit());
