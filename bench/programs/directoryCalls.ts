import { Client } from 'ldapts';

// Asks a directory by hand what a login asks it: where is the person, and is the password theirs.

export type Calls = {
  readonly url: string;
  readonly ca: string;
  readonly uids: readonly string[];
  readonly atOnce: number;
  /** Each caller has one connection for all; else each login has its own. */
  readonly isKept: boolean;
};

/** Milliseconds that all took. */
const callAll = async ({ url, ca, uids, atOnce, isKept }: Calls): Promise<number> => {
  const left = uids.values();
  const open = () => new Client({ url, tlsOptions: { ca } });
  const login = async (client: Client, uid: string): Promise<void> => {
    const { searchEntries } = await client.search('ou=people,dc=example', { filter: `(uid=${uid})`, sizeLimit: 2 });
    await client.bind(searchEntries[0]!.dn, `password of ${uid}`);
  };
  const caller = async (): Promise<void> => {
    const kept = isKept ? open() : undefined;
    for (const uid of left) {
      const client = kept ?? open();
      await login(client, uid);
      if (!kept) await client.unbind();
    }
    await kept?.unbind();
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
