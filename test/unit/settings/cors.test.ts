import assert from 'node:assert/strict';
import { corsHeaders, corsOf } from '../../../src/http/engine/send.ts';

const [one, two] = ['https://portal.example.net', 'https://noc.example.net:8443'];

describe('CORS', () => {
  for (const [list, credentials, origin, allowed, isSent] of [
    [undefined, true, one, undefined, false],
    [one, false, undefined, one, false],
    [one, true, two, one, true],
    ['*', false, one, '*', false],
    ['*', true, one, '*', false],
    [`${one},${two}`, false, two, two, false],
    [`${one},${two}`, true, one, one, true],
    [`HTTPS://Portal.example.net/,${two}`, true, one, one, true],
    [`${one},${two}`, true, 'https://evil.example', undefined, false],
    [`${one},${two}`, true, `${one}.evil.example`, undefined, false],
    [`${one},${two}`, true, undefined, undefined, false],
    [`${one},*`, true, two, '*', false],
  ] as const)
    it(`of ${list}, credentials ${credentials}, asked by ${origin}: ${allowed}`, () => {
      const headers = corsHeaders(corsOf(list, credentials), origin);
      const valueOf = (name: string) => headers[headers.indexOf(name) + 1];
      const has = (name: string) => headers.includes(name);
      assert.equal(has('Access-Control-Allow-Origin') ? valueOf('Access-Control-Allow-Origin') : undefined, allowed);
      assert.equal(has('Access-Control-Allow-Credentials'), isSent);
      // Caches must not give the answer to one origin to another.
      const isOneOfSeveral = list?.includes(',') === true && !list.includes('*');
      assert.equal(valueOf('Vary')?.includes('Origin'), isOneOfSeveral);
    });
});
