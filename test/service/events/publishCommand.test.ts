import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { publishEvent } from '../../../src/cli/commands/eventsPublish.ts';
import { startProgram } from '../../support/process.ts';
import { publishedIn } from '../../support/published.ts';
import { adminPassword } from '../../support/service.ts';
import { useService } from '../../support/useService.ts';

describe('events publish', function () {
  this.timeout(120_000);
  const service = useService();

  const run = async (args: readonly string[], { input = '', password = adminPassword, token = '' } = {}) => {
    const program = startProgram(['events', 'publish', ...args, '--url', service.url], {
      ...(password && { AUTOMATION_PLATFORM_PASSWORD: password }),
      ...(token && { API_TOKEN: token }),
    });
    program.child.stdin!.end(input);
    const code = await program.ended;
    return { code, ...program.output() };
  };
  const last = (topic: string) => publishedIn(service.folder).filter(({ type }) => type.endsWith(`:${topic}`));

  it('publishes and reports id and position as a line of JSON', async () => {
    const { code, out, err } = await run(['itsm/eu', 'a/b', '{"ticket": 7}']);
    assert.equal(code, 0, err);
    assert.match(out, /^\{"id":"[0-9a-f-]{36}","position":\d+\}\n$/);
    assert.deepEqual(
      last('a/b').map(({ type, data }) => [type, data]),
      [['itsm/eu:a/b', { ticket: 7 }]],
    );
  });

  it('takes the payload from standard input, and null without one', async () => {
    const [piped, none] = await Promise.all([
      run(['itsm', 'piped', '-'], { input: '[1,\n2]\n' }),
      run(['itsm', 'none']),
    ]);
    assert.deepEqual([piped.code, none.code], [0, 0]);
    assert.deepEqual(last('piped')[0]?.data, [1, 2]);
    assert.equal(last('none')[0]?.data, null);
  });

  it('exits with 1 and the reason when it is refused', async () => {
    const { code, err } = await run(['@platform/mop', 'x', '1']);
    assert.deepEqual([code, err], [1, 'A source must not begin with @platform/ or $, nor with what looks so\n']);
  });

  it('exits with 2 when it is called wrongly', async () => {
    const [wrong, asking] = await Promise.all([run(['itsm', 'x', '{']), run(['itsm', 'x', '-'], { password: '' })]);
    assert.deepEqual([wrong.code, asking.code], [2, 2]);
    assert.match(asking.err, /AUTOMATION_PLATFORM_PASSWORD/);
    assert.deepEqual(last('x'), []);
  });

  it('takes a token from API_TOKEN or a file, and no password then', async () => {
    const made = await service.ask('POST', '/authorization/tokens', { name: 'pipeline' });
    const { token } = made.body.data as { token: string };
    const file = join(service.folder, 'token');
    writeFileSync(file, `${token}\n`);
    const [fromVariable, fromFile, unknown, empty] = await Promise.all([
      run(['itsm', 'with', '-'], { input: '1', password: '', token }),
      run(['itsm', 'with', '2', '--token-file', file], { password: 'wrong', token: 'apt_wrong' }),
      run(['itsm', 'with', '3'], { token: token.replace(/......$/, '000000') }),
      run(['itsm', 'with', '4', '--token-file', '/dev/null']),
    ]);
    assert.deepEqual([fromVariable.code, fromFile.code], [0, 0], fromVariable.err + fromFile.err);
    assert.deepEqual(
      last('with')
        .map(({ data }) => data)
        .sort(),
      [1, 2],
    );
    assert.deepEqual([unknown.code, unknown.out], [1, '']);
    assert.deepEqual([empty.code, empty.err], [1, 'There is no token in /dev/null\n']);
  });

  it('says it in a sentence on a terminal', async () => {
    const output = Object.assign(new PassThrough(), { isTTY: true });
    const access = { url: `${service.url}/`, auth: { username: 'admin', password: adminPassword } };
    await publishEvent({ source: 'itsm', topic: 'said', payload: '1' }, access, new AbortController().signal, output);
    assert.match(String(output.read()), /^Published [0-9a-f-]{36} at position \d+\n$/);
  });
});
