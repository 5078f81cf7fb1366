import { connect } from 'node:net';

// The load generator, a process of its own: whole requests are written as they are, and of answers only what delimits
// them is looked at, so that it costs a fraction of what it measures.

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

/** What the process is told: first the requests, then loads, each answered. */
export type Order = { readonly requests: readonly Uint8Array[] } | { readonly load: Load };

const headEnd = Buffer.from('\r\n\r\n');
const lengthNames = ['\r\nContent-Length: ', '\r\ncontent-length: '].map((name) => Buffer.from(name));
const bufferSize = 256 * 1024;

/** Bytes of the body that follows a head, which ends at `end`. */
const lengthIn = (bytes: Buffer, end: number, status: number): number => {
  if (status === 304 || status === 204) return 0;
  for (const name of lengthNames) {
    const at = bytes.indexOf(name);
    if (at < 0 || at > end) continue;
    let length = 0;
    for (let digit = at + name.length; bytes[digit]! >= 48; digit++) length = length * 10 + bytes[digit]! - 48;
    return length;
  }
  throw new Error(`An answer without Content-Length:\n${bytes.toString('latin1', 0, end)}`);
};

type Exchange = { readonly send: (request: Uint8Array) => void; readonly end: () => void };

/** A connection; `answered` is told status and body of each answer, the body only where it was `wanted`. */
const open = (
  port: number,
  wanted: (status: number) => boolean,
  answered: (status: number, body: Buffer | undefined) => void,
  failed: (error: Error) => void,
): Exchange => {
  let head: Buffer | undefined;
  let status = 0;
  let left = 0;
  let body: Buffer[] | undefined;

  const take = (bytes: Buffer): void => {
    if (left > 0) {
      left -= bytes.length;
      body?.push(Buffer.from(bytes));
    } else {
      const whole = head ? Buffer.concat([head, bytes]) : bytes;
      const end = whole.indexOf(headEnd);
      head = end < 0 ? Buffer.from(whole) : undefined;
      if (end < 0) return;
      status = (whole[9]! - 48) * 100 + (whole[10]! - 48) * 10 + whole[11]! - 48;
      const start = end + headEnd.length;
      left = start + lengthIn(whole, end, status) - whole.length;
      body = wanted(status) ? [Buffer.from(whole.subarray(start))] : undefined;
    }
    if (left < 0) throw new Error('More was answered than was asked for');
    if (left === 0) answered(status, body && Buffer.concat(body));
  };

  const buffer = Buffer.allocUnsafe(bufferSize);
  let ended = false;
  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: {
      buffer,
      callback: (length) => {
        try {
          take(buffer.subarray(0, length));
        } catch (error) {
          failed(error as Error);
        }
        return true;
      },
    },
  });
  socket.on('error', failed).on('close', () => {
    if (!ended) failed(new Error('The connection was closed'));
  });
  return {
    send: (request) => {
      socket.write(request);
    },
    end: () => {
      ended = true;
      socket.destroy();
    },
  };
};

const run = (
  requests: readonly Uint8Array[],
  { port, connections, status: expected, from, count = Infinity, milliseconds = Infinity }: Load,
): Promise<Loaded> =>
  new Promise((resolve, reject) => {
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
        began = performance.now();
        connection.send(requests[(from + number) % requests.length]!);
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
