import assert from 'node:assert/strict';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { blockList } from '../../../src/southbound/addresses.ts';
import { httpAdapter } from '../../../src/southbound/http.ts';
import { outbound } from '../../../src/southbound/outbound.ts';
import { httpWebhook } from '../../../src/southbound/webhook.ts';
import { badUpstreams, type Ending, floods, late, type Misbehave } from '../../support/badUpstreams.ts';
import { peer } from '../../support/peer.ts';

const guard = outbound({ allowed: { hosts: new Set(), addresses: blockList(['127.0.0.1']) }, stores: [] });
const webhook = httpWebhook(guard, () => assert.fail('nothing is sealed'));

/** Milliseconds that a call may take: few where nothing but time ends it. */
const patience = (endings: readonly Ending[]): number => (endings.includes(late) ? 400 : 100_000);

describe('A bad upstream', () => {
  const { port, behave } = peer();
  const url = (): string => `http://127.0.0.1:${port()}`;
  /** Misbehaves once a request has come in. */
  const misbehaving = (misbehave: Misbehave): void =>
    behave((socket) => {
      socket.once('data', () => misbehave(socket));
    });

  /** What a call ended with: the status, or the reason. */
  const adapterEnding = async (baseUrl: string, ms: number): Promise<number | string> => {
    try {
      const { status, text } = await httpAdapter('tested', { baseUrl }, guard).apply(
        { name: 'd' },
        'x',
        {},
        AbortSignal.timeout(ms),
      );
      JSON.parse(text);
      return status;
    } catch (error) {
      assert.ok(error instanceof RequestError, String((error as Error).stack));
      assert.equal(error.code, 'adapter_failed');
      return error.message;
    }
  };

  const isOneOf = (ended: number | string, endings: readonly Ending[]): void =>
    assert.ok(
      endings.some((ending) => (ending instanceof RegExp ? ending.test(String(ended)) : ending === ended)),
      `ended with ${ended}`,
    );

  for (const [kind, [misbehave, ...endings]] of Object.entries(badUpstreams)) {
    it(`that ${kind}: a device's call ends, and so does a webhook`, async () => {
      misbehaving(misbehave);
      isOneOf(await adapterEnding(url(), patience(endings)), endings);
      const signal = AbortSignal.timeout(patience(endings));
      const answer = await webhook({ url: url(), sessionId: 's', agent: 'a', inputs: {} }, signal).catch(
        (error: unknown) => error,
      );
      assert.ok(answer === signal.reason || typeof answer === 'object', String(answer));
    });
  }

  describe('behind TLS', () => {
    const tlsUrl = (): string => url().replace('http:', 'https:');
    const failed = /connection failed|broke off/;
    const kinds: Readonly<Record<string, readonly [Misbehave, ...Ending[]]>> = {
      'never answers the greeting': [() => undefined, late],
      'answers it with what is no TLS': [(socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'), failed],
      'answers it with half a record': [(socket) => void socket.write(Buffer.from([22, 3, 3, 64, 0, 2, 0, 0])), late],
      'floods it with empty records': [floods('', '\u0016\u0003\u0003\u0000\u0000'), failed, late],
      alerts: [(socket) => void socket.end(Buffer.from([21, 3, 3, 0, 2, 2, 40])), failed],
      ends: [(socket) => void socket.end(), failed],
      resets: [(socket) => socket.resetAndDestroy(), failed],
    };
    for (const [kind, [misbehave, ...endings]] of Object.entries(kinds)) {
      it(`that ${kind}: a call ends`, async () => {
        misbehaving(misbehave);
        isOneOf(await adapterEnding(tlsUrl(), patience(endings)), endings);
      });
    }
  });
});
