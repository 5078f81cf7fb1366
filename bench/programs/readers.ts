import { connect, type Socket } from 'node:net';

// Readers of a stream of server-sent events, in a process of their own. Of each event they look at one member only: when
// it was sent.

export type Opening = { readonly port: number; readonly readers: number; readonly requests: readonly Uint8Array[] };

/** `delays[n]`: how many events came after n milliseconds. */
export type Heard = { readonly delays: Uint32Array; readonly open: number };

/** What the process is told: to open all connections, or to tell what came since it was last asked. */
export type Order = { readonly open: Opening } | 'heard';

const mark = Buffer.from('"sent":');
const digits = 13; // of milliseconds since 1970
const longest = 100_000;

let delays = new Uint32Array(longest + 1);
const sockets = new Set<Socket>();

/** Takes in what a reader got. Returns the end of it, in which a mark may have begun. */
const take = (bytes: Buffer): Buffer => {
  const now = Date.now();
  let from = 0;
  for (;;) {
    const at = bytes.indexOf(mark, from);
    const end = at + mark.length + digits;
    if (at < 0) return bytes.subarray(Math.max(from, bytes.length - mark.length));
    if (end > bytes.length) return bytes.subarray(at);
    const delay = now - Number(bytes.toString('latin1', at + mark.length, end));
    const bin = Math.min(Math.max(0, delay), longest);
    delays[bin] = (delays[bin] ?? 0) + 1;
    from = end;
  }
};

const open = ({ port, readers, requests }: Opening): Promise<void> =>
  new Promise((resolve, reject) => {
    let answered = 0;
    for (let n = 0; n < readers; n++) {
      let rest: Buffer | undefined;
      const socket = connect({ port, host: '127.0.0.1' });
      sockets.add(socket);
      socket
        .on('data', (bytes: Buffer) => {
          if (rest === undefined) {
            if (!bytes.toString('latin1', 0, 12).endsWith(' 200')) reject(new Error(bytes.toString('latin1', 0, 300)));
            if (++answered === readers) resolve();
          }
          rest = Buffer.from(take(rest === undefined ? bytes : Buffer.concat([rest, bytes])));
        })
        .on('error', reject)
        .on('close', () => sockets.delete(socket));
      socket.write(requests[n % requests.length] as Uint8Array);
    }
  });

process.on('message', (order: Order) => {
  if (order === 'heard') {
    process.send?.({ delays, open: sockets.size } satisfies Heard);
    delays = new Uint32Array(longest + 1);
    return;
  }
  open(order.open).then(
    () => process.send?.('open'),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.once('disconnect', () => process.exit());
