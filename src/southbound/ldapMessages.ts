import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { TooMuch, Unexpected } from './failure.ts';

/** The most bytes and messages that a directory may answer to one request. */
const [mostBytes, mostMessages] = [1024 * 1024, 6_000];
/** The bytes of a message with an id, and something with a length. */
const leastBytes = 7;

/** How many bytes the first message in the buffer has; undefined: it has not begun enough to tell. */
const lengthOfMessage = (buffer: Buffer): number | undefined => {
  const [tag, size] = buffer;
  if (tag !== undefined && tag !== 0x30) throw new Unexpected('the answer is not LDAP');
  if (size === undefined) return undefined;
  if (size < 0x80) return 2 + size;
  const digits = size & 0x7f;
  if (digits === 0 || digits > 4) throw new Unexpected('the answer is not LDAP');
  return buffer.length < 2 + digits ? undefined : 2 + digits + buffer.readUIntBE(2, digits);
};

/**
 * The messages of LDAP over a socket, one at a time and within bounds. ldapts reads the messages of a chunk by recursion,
 * so a directory that sends many small ones would end the process, and it copies all that it has with each chunk.
 */
export const ldapMessages = (socket: Socket) => {
  let chunks: Buffer[] = [];
  let size = 0;
  let enough = 2;
  let [bytes, messages] = [0, 0];
  let fault: unknown;

  const stream = new Duplex({
    readableObjectMode: true,
    read: () => undefined,
    write: (chunk, _, next) => {
      [bytes, messages] = [0, 0];
      socket.write(chunk, next);
    },
    destroy: (_, next) => {
      socket.destroy();
      next(null);
    },
  });

  /** Ends the connection. Without an error event: ldapts rejects what it waits for, and `fault` says why. */
  const fail = (error: unknown): void => {
    fault ??= error;
    stream.destroy();
  };

  const pass = (): void => {
    let rest = Buffer.concat(chunks);
    let length = lengthOfMessage(rest);
    for (; length !== undefined && length <= rest.length; length = lengthOfMessage(rest)) {
      if (length < leastBytes) throw new Unexpected('the answer is not LDAP');
      if (++messages > mostMessages) throw new TooMuch(`An answer may have ${mostMessages} messages`);
      stream.push(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
    if (length !== undefined && length > mostBytes) throw new TooMuch(`An answer may have ${mostBytes} bytes`);
    chunks = [rest];
    size = rest.length;
    enough = length ?? size + 1;
  };

  const take = (chunk: Buffer): void => {
    chunks.push(chunk);
    size += chunk.length;
    bytes += chunk.length;
    try {
      if (bytes > mostBytes) throw new TooMuch(`An answer may have ${mostBytes} bytes`);
      if (size >= enough) pass();
    } catch (error) {
      fail(error);
    }
  };

  socket.on('data', take);
  socket.on('error', fail);
  socket.on('close', () => fail(new Unexpected('the connection ended without an answer')));
  return {
    stream,
    fail,
    /** Why the connection has ended; undefined: it has not. */
    fault: () => fault,
    /** One that is not in use does not keep the process. */
    setInUse: (isInUse: boolean): void => void (isInUse ? socket.ref() : socket.unref()),
    /** Leaves the socket. The bytes that it has sent so far are lost. */
    release: (): Socket => {
      socket.removeAllListeners('data');
      socket.removeAllListeners('close');
      return socket;
    },
  };
};

export type LdapMessages = ReturnType<typeof ldapMessages>;
