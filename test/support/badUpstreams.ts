import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

/** What a peer does with a connection on which a whole request has come in. */
export type Misbehave = (socket: Socket) => void;

/** How a call may end: with an answer of this status, or with a reason like this. */
export type Ending = number | RegExp;

const head = 'HTTP/1.1 200 OK\r\n';
/** Ends with the call's time alone. */
export const late = /no answer in time/;
const broken = /broke off|not HTTP/;
const noHttp = /not HTTP/;

const says =
  (text: string | Buffer): Misbehave =>
  (socket) =>
    void socket.write(text);
const saysAndEnds =
  (text: string | Buffer): Misbehave =>
  (socket) =>
    void socket.end(text);
const saysAndResets =
  (text: string): Misbehave =>
  (socket) =>
    socket.write(text, () => socket.resetAndDestroy());

/** Writes as fast as it is read, for ever. */
export const floods =
  (first: string, more: string): Misbehave =>
  (socket) => {
    const block = more.repeat(Math.ceil(65_536 / more.length));
    const go = (): void => {
      while (!socket.destroyed && socket.write(block));
    };
    socket.write(first);
    socket.on('drain', go);
    go();
  };

/** Writes piece by piece, in no hurry. */
export const dribbles =
  (first: string, more: string): Misbehave =>
  (socket) => {
    let at = 0;
    socket.write(first);
    const timer = setInterval(() => socket.write(more[at++ % more.length]!), 5);
    socket.on('close', () => clearInterval(timer));
  };

/** Kinds of bad HTTP peers, with all the ways in which a call of them may end. */
export const badUpstreams: Readonly<Record<string, readonly [Misbehave, ...Ending[]]>> = {
  'switches protocols': [
    says('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
    /status 101/,
  ],
  'switches protocols, and goes on': [
    floods('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n', 'frames'),
    /status 101/,
  ],
  'switches protocols without saying to which': [says('HTTP/1.1 101 Switching Protocols\r\n\r\n'), 101],
  'upgrades with 200': [saysAndEnds(`${head}Upgrade: h2c\r\nConnection: Upgrade\r\nContent-Length: 2\r\n\r\n{}`), 200],
  'continues for ever': [floods('', 'HTTP/1.1 100 Continue\r\n\r\n'), /interim answers without an end/],
  'hints for ever': [floods('', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'), /interim answers without an end/],
  'hints once, and answers': [saysAndEnds(`HTTP/1.1 103 Early Hints\r\n\r\n${head}Content-Length: 2\r\n\r\n{}`), 200],
  'hints once, and never answers': [says('HTTP/1.1 103 Early Hints\r\n\r\n'), late],
  'says nothing': [() => undefined, late],
  'stops within the status line': [says('HTTP/1.1 2'), late],
  'stops within the headers': [says(`${head}Content-Type: applic`), late],
  'sends headers byte by byte': [dribbles(head, 'X-Header: value\r\n'), late],
  'sends headers without an end': [floods(head, 'X-Header: value\r\n'), noHttp],
  'sends one header without an end': [floods(`${head}X-Header: `, 'v'), noHttp],
  'sends a body without an end': [floods(`${head}\r\n`, 'body'), /too large/],
  'sends a body byte by byte': [dribbles(`${head}Content-Length: 100000\r\n\r\n`, 'body'), late],
  'sends less than it says': [says(`${head}Content-Length: 10\r\n\r\n{}`), late],
  'sends less than it says, and ends': [saysAndEnds(`${head}Content-Length: 10\r\n\r\n{}`), broken],
  'sends more than it says': [saysAndEnds(`${head}Content-Length: 2\r\n\r\n{}{}{}`), 200],
  'says two lengths': [saysAndEnds(`${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `), noHttp],
  'says a negative length': [saysAndEnds(`${head}Content-Length: -1\r\n\r\n`), noHttp],
  'says length and chunks': [
    saysAndEnds(`${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`),
    noHttp,
  ],
  'sends chunks that are none': [says(`${head}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`), broken],
  'sends a chunk of absurd size': [says(`${head}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n`), broken],
  'sends chunks of one byte without an end': [
    floods(`${head}Transfer-Encoding: chunked\r\n\r\n`, '1\r\nx\r\n'),
    /too large/,
    late,
  ],
  'sends a chunk extension without an end': [floods(`${head}Transfer-Encoding: chunked\r\n\r\n1;`, 'x'), broken],
  'never sends the last chunk': [says(`${head}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n`), late],
  'sends trailers without an end': [
    floods(`${head}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n`, 'X-Trailer: value\r\n'),
    broken,
  ],
  'resets at once': [(socket) => socket.resetAndDestroy(), broken],
  'resets within the headers': [saysAndResets(head), broken],
  'resets within the body': [saysAndResets(`${head}Content-Length: 10\r\n\r\n{`), broken],
  'ends at once': [(socket) => void socket.end(), broken],
  'ends within the headers': [saysAndEnds(head), broken],
  'ends its half only': [
    (socket) => {
      socket.end();
      socket.resume();
    },
    broken,
  ],
  redirects: [saysAndEnds('HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n'), 302],
  'says 204 with a body': [saysAndEnds('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n{"a"}'), 204, noHttp],
  'says 304 to what was no question': [saysAndEnds('HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n'), 304],
  'speaks HTTP/0.9': [saysAndEnds('<html>hello</html>'), noHttp],
  'speaks HTTP/2': [saysAndEnds('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), noHttp],
  'speaks a protocol of its own': [floods('', '\u0000\u0001\u0002garbage'), noHttp],
  'has status 999': [saysAndEnds('HTTP/1.1 999 What\r\nContent-Length: 2\r\n\r\n{}'), 999],
  'has status 1000': [saysAndEnds('HTTP/1.1 1000 What\r\nContent-Length: 2\r\n\r\n{}'), noHttp],
  'asks for proxy credentials': [
    saysAndEnds('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 2\r\n\r\n{}'),
    407,
  ],
  'sends a bomb of gzip': [
    saysAndEnds(
      Buffer.concat([Buffer.from(`${head}Content-Encoding: gzip\r\n\r\n`), gzipSync(Buffer.alloc(32 * 1024 * 1024))]),
    ),
    200,
  ],
  'sends JSON nested a million deep': [
    saysAndEnds(`${head}Content-Type: application/json\r\n\r\n${'['.repeat(1_000_000)}`),
    200,
  ],
  'sends a text that is no UTF-8': [
    saysAndEnds(
      Buffer.concat([
        Buffer.from(`${head}Content-Type: application/json\r\n\r\n"`),
        Buffer.from([0xff, 0xfe, 0xc0, 0x22]),
      ]),
    ),
    200,
  ],
};
