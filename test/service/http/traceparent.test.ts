import assert from 'node:assert/strict';
import { childOf, traceparentOf } from '../../../src/southbound/traceparent.ts';
import { startService, type TestService } from '../../support/service.ts';
import { says, webhookServer } from '../../support/webhookServer.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const parent = 'b7ad6b7169203331';
const given = `00-${trace}-${parent}-01`;

describe('traceparent', () => {
  it('counts as not sent when it is none', () => {
    for (const wrong of [
      '',
      'x',
      `ff-${trace}-${parent}-01`,
      `00-${'0'.repeat(32)}-${parent}-01`,
      `00-${trace}-${'0'.repeat(16)}-01`,
      `00-${trace.toUpperCase()}-${parent}-01`,
      `${given}-more`,
      `${given} `,
      `00-${trace}-${parent}`,
      `${given},${given}`,
    ])
      assert.equal(traceparentOf(wrong), undefined, wrong);
    assert.equal(traceparentOf(given), given);
    assert.equal(
      traceparentOf(`01-${trace}-${parent}-09-more`),
      `01-${trace}-${parent}-09`,
      'a later version may have more',
    );
  });

  it('is sent on with another parent in the same trace, as version 00', () => {
    for (const [from, flags] of [
      [given, '01'],
      [`00-${trace}-${parent}-00`, '00'],
      [`01-${trace}-${parent}-0a`, '00'],
      [`01-${trace}-${parent}-0b`, '01'],
    ] as const) {
      const child = childOf(from);
      assert.match(child, new RegExp(`^00-${trace}-[0-9a-f]{16}-${flags}$`));
      assert.notEqual(child.split('-')[2], parent);
      assert.equal(traceparentOf(child), child);
    }
  });

  describe('of a request', () => {
    let service: TestService;
    let server: Awaited<ReturnType<typeof webhookServer>>;
    beforeEach(async () => {
      server = await webhookServer({
        '/agent': says({ status: 'COMPLETE' }),
        '/devices/edge/configuration': says({}),
        '/devices/edge/commands': says({ output: '' }),
      });
      service = await startService({ OUTBOUND_ALLOW: '127.0.0.1', LOG_LEVEL: 'info' });
      await service.ask('POST', '/agent-session-manager/agents', {
        name: 'agent',
        inputSchema: {},
        runner: 'webhook',
        url: server.url('/agent'),
      });
      await service.ask('POST', '/configuration_manager/adapters', {
        name: 'controller',
        type: 'http',
        properties: { baseUrl: server.url('') },
        devices: [{ name: 'edge' }],
      });
      await service.ask('POST', '/mop/createTemplate', {
        mop: { name: 'check', commands: [{ command: 'show', rules: [] }] },
      });
    });
    afterEach(async () => {
      await service.stop();
      server.close();
    });

    const calls = [
      { what: 'a webhook', path: '/agent-session-manager/sessions/run-agent', body: { agent: 'agent', inputs: {} } },
      {
        what: 'an adapter that applies',
        path: '/configuration_manager/devices/edge/configuration',
        body: { config: { config: 'x' } },
      },
      { what: 'an adapter that asks', path: '/mop/RunCommandTemplate', body: { template: 'check', devices: ['edge'] } },
    ];

    for (const { what, path, body } of calls) {
      it(`is in the line of the log, and ${what} is told of it`, async () => {
        const { status, text } = await service.ask('POST', path, body, { traceparent: given });
        assert.equal(status, 200, text);
        const { headers } = await server.next();
        assert.match(String(headers.traceparent), new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
        assert.notEqual(headers.traceparent, given);
        const line = service.lines.map((one) => JSON.parse(one)).find((one) => one.path === path);
        assert.equal(line.traceparent, given);
      });
    }

    it('is told nobody when there is none', async () => {
      const { path, body } = calls[1]!;
      for (const headers of [{}, { traceparent: `00-${'0'.repeat(32)}-${parent}-01` }]) {
        await service.ask('POST', path, body, headers as Record<string, string>);
        assert.equal((await server.next()).headers.traceparent, undefined);
      }
      assert.doesNotMatch(service.lines.join(''), /traceparent/);
    });
  });
});
