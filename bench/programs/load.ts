import { open } from './connection.ts';

// The load generator, a process of its own.

/** Requests to be sent on several keep-alive connections, one at a time on each. */
export type Load = {
  readonly port: number;
  readonly connections: number;
  /** Every answer must have it. */
  readonly status: number;
  /** Index of the first request; the connections take the next ones, and begin again after the last. */
  readonly from: number;
  /** Ends after so many requests, or so long. */
  readonly count?: number;
  readonly milliseconds?: number;
  /** Sends no more than so many, at an even pace. */
  readonly perSecond?: number;
  /** Puts the time of now into the member `sent` of each body, in milliseconds since 1970. */
  readonly stamped?: boolean;
};

export type Loaded = {
  readonly count: number;
  readonly milliseconds: number;
  /** Of one core, by this process. */
  readonly cpu: number;
  /** Milliseconds from the first byte sent to the last received. */
  readonly p50: number;
  readonly p99: number;
  /** Body of the answer to the first request. */
  readonly body: Uint8Array;
};

const mark = Buffer.from('"sent":');

/** Puts the time of now into a request, in the place of the one that it has. */
const stamp = (request: Uint8Array): void => {
  const bytes = Buffer.from(request.buffer, request.byteOffset, request.byteLength);
  const at = bytes.indexOf(mark);
  bytes.write(String(Date.now()), at + mark.length, 'latin1');
};

/** What the process is told: first the requests, then loads, each answered. */
export type Order = { readonly requests: readonly Uint8Array[] } | { readonly load: Load };

const run = (requests: readonly Uint8Array[], load: Load): Promise<Loaded> =>
  new Promise((resolve, reject) => {
    const { port, connections, status: expected, from, stamped = false } = load;
    const { count = Infinity, milliseconds = Infinity, perSecond = Infinity } = load;
    const times = new Float64Array(4_000_000);
    const cpu = process.cpuUsage();
    const start = performance.now();
    let sent = 0;
    let done = 0;
    let first: Uint8Array = Buffer.alloc(0);

    const finish = (): void => {
      const took = performance.now() - start;
      const { user, system } = process.cpuUsage(cpu);
      const sorted = times.subarray(0, Math.min(done, times.length)).sort();
      const at = (share: number): number =>
        sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
      resolve({
        count: done,
        milliseconds: took,
        cpu: (user + system) / 1000 / took,
        p50: at(0.5),
        p99: at(0.99),
        body: first,
      });
    };

    for (let n = 0; n < connections; n++) {
      let number = 0;
      let began = 0;
      const next = (): void => {
        if (sent >= count || performance.now() - start >= milliseconds) {
          // At once: a server cuts idle connections.
          connection.end();
          if (done === sent) finish();
          return;
        }
        number = sent++;
        const early = start + (number * 1000) / perSecond - performance.now();
        if (early > 0) setTimeout(send, early);
        else send();
      };
      const send = (): void => {
        const request = requests[(from + number) % requests.length]!;
        if (stamped) stamp(request);
        began = performance.now();
        connection.send(request);
      };
      const connection = open(
        port,
        (status) => number === 0 || status !== expected,
        (status, body) => {
          times[done++] = performance.now() - began;
          if (status !== expected)
            return reject(
              new Error(
                `Status ${status}, not ${expected}, to\n${Buffer.from(requests[(from + number) % requests.length]!).toString()}\n${body?.toString() ?? ''}`,
              ),
            );
          if (body) first = body;
          next();
        },
        reject,
      );
      next();
    }
  });

let requests: readonly Uint8Array[] = [];
process.on('message', (order: Order) => {
  if ('requests' in order) requests = order.requests;
  else
    run(requests, order.load).then(
      (loaded) => process.send!(loaded),
      (error: Error) => process.send!({ error: error.message }),
    );
});
process.on('disconnect', () => process.exit());
