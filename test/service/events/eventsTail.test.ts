import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { tailEvents } from '../../../src/cli/commands/eventsTail.ts';
import { runInProcess } from '../../support/command.ts';
import { startProgram } from '../../support/process.ts';
import { adminPassword } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { useService } from '../../support/useService.ts';

describe('events tail', () => {
  const service = useService();
  before(async () => {
    await service.ask('POST', '/operations-manager/events/tests/first', { text: 'a\u001b[2Jb' });
  });

  it('prints events as lines of JSON where the output is no terminal', async () => {
    const args = ['events', 'tail', '--url', service.url, '--from', 'start', '--source', 'tests'];
    const { child, output, ended } = startProgram(args, { AUTOMATION_PLATFORM_PASSWORD: adminPassword });
    await until(() => output().out.includes('\n'));
    await service.ask('POST', '/operations-manager/events/tests/second', {});
    await until(() => output().out.split('\n').length > 2);
    child.kill('SIGTERM');
    assert.equal(await ended, 0, output().err);
    const lines = output().out.trim().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).topic),
      ['first', 'second'],
    );
  });

  it('refuses another place to begin, and says why the platform refuses', async () => {
    const tail = async (more: readonly string[], password = adminPassword) => {
      const words = ['events', 'tail', '--url', service.url, ...more];
      const { status, err } = await runInProcess(words, { AUTOMATION_PLATFORM_PASSWORD: password });
      return [status, err] as const;
    };
    const [code, message] = await tail(['--from', 'yesterday']);
    assert.ok(code !== 0);
    assert.match(message, /neither start, now nor a position/);
    assert.deepEqual(await tail([], 'wrong'), [1, 'Wrong user name or password\n']);
  });

  it('prints a table for people, without what a terminal would obey', async () => {
    let text = '';
    const output = Object.assign(
      new Writable({
        write: (chunk, _, done) => {
          text += chunk;
          done();
        },
      }),
      { isTTY: true, columns: 170 },
    );
    const stop = new AbortController();
    const access = { url: service.url, auth: { username: 'admin', password: adminPassword } };
    const tailing = tailEvents({ from: 'start', topic: 'first' }, access, stop.signal, output);
    await until(() => text.split('\n').length > 2);
    stop.abort();
    await tailing;
    const [heading, line] = text.split('\n');
    assert.match(heading!, /^at +position +actor +event +resource +data$/);
    assert.match(line!, /^20\S+Z +\d+ +admin +tests:first +publishedEvent\/\S+ +\{"text":"a.*b"\}$/);
    assert.ok(![...text.replaceAll('\n', '')].some((character) => character < ' '));
  });
});
