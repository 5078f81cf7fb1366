import { connect } from 'node:net';

// Whole requests are written as they are, and of answers only what delimits them is looked at, so that the load costs a
// fraction of what it measures.

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

export type Exchange = { readonly send: (request: Uint8Array) => void; readonly end: () => void };

/** A keep-alive connection; `answered` is told status and body of each answer, the body only where it was `wanted`. */
export const open = (
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
