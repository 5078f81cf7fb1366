import assert from 'node:assert/strict';
import { ok, refused } from '../../support/people.ts';
import { content, template } from '../../support/samples/analyticTemplates.ts';
import { usePeople, useService } from '../../support/useService.ts';

describe('analytic templates', () => {
  const service = useService();
  const who = usePeople(service);
  const post = (path: string, body?: unknown, headers?: Record<string, string>) =>
    service.ask('POST', `/mop/${path}`, body, headers);

  it('are created, listed, changed, exported, imported and deleted', async () => {
    const made = ok(await post('createAnalyticTemplate', { template }));
    assert.deepEqual(
      [made.status, made.data.prepostCommands, made.data.createdBy],
      ['Created', content.prepostCommands, 'admin'],
    );
    const { _id } = made.data;
    assert.deepEqual(ok(await service.ask('GET', '/mop/listAnalyticTemplates')), [made.data]);
    for (const name of [_id, 'Before%20and%20after'])
      assert.deepEqual(ok(await service.ask('GET', `/mop/listAnAnalyticTemplate/${name}`)), [made.data]);
    const { data } = ok(
      await post('updateAnalyticTemplate/Before%20and%20after', { template: { ...made.data, passRule: false } }),
    );
    assert.deepEqual({ ...data, lastUpdated: 0 }, { ...made.data, passRule: false, lastUpdated: 0 });
    for (const type of ['analytics', 'analytic'])
      assert.deepEqual(ok(await post('export', { options: { _id }, type })), data);
    refused(await post('export', { options: { _id } }), 404);
    assert.equal(ok(await post('deleteAnalyticTemplate/Before%20and%20after')).data._id, _id);
    assert.deepEqual(ok(await service.ask('GET', '/mop/listAnAnalyticTemplate/Before%20and%20after')), []);
    assert.deepEqual(ok(await post('import', { type: 'analytic', template: data })).data, data);
    refused(await post('import', { type: 'analytics', template: { ...data, os: 'x' } }), 409);
    ok(await post('import', { type: 'analytics', template: { ...data, os: 'x' }, overwrite: true }));
  });

  it('keep types and evaluations that nobody knows; these are refused when they run', async () => {
    const rules = [{ type: 'jsonpath' }, { type: 'table', evaluation: '~' }];
    const { data } = ok(
      await post('createAnalyticTemplate', { template: { name: 'Foreign', prepostCommands: [{ rules }] } }),
    );
    assert.deepEqual(data.prepostCommands[0].rules, rules);
    refused(
      await post('RunAnalyticTemplate', { template: 'Foreign', pre: ['a'], post: ['b'] }),
      422,
      /jsonpath.*rules\/0\/type.*rules\/1\/evaluation/,
    );
  });

  it('run over texts, also for readers', async () => {
    ok(await post('createAnalyticTemplate', { template: { ...template, name: 'Runs' } }));
    const run = async (post: string) =>
      ok(
        await who.reader('POST', '/mop/RunAnalyticTemplate', {
          template: 'Runs',
          pre: ['Gi1 up\nGi2 down'],
          post: [post],
        }),
      );
    const good = await run('Gi2 up\r\nGi1 up <script>');
    assert.deepEqual([good.name, good.result, good.commands_results[0].rules[0].post], ['Runs', true, ['Gi2', 'Gi1']]);
    assert.equal(good.commands_results[0].postCommandResHTML, '<pre>Gi2 up\nGi1 up &lt;script&gt;</pre>');
    assert.equal((await run('Gi1 down')).result, false);
    refused(
      await post('RunAnalyticTemplate', { template: 'Runs', pre: [], post: ['a', 'b'] }),
      422,
      /"\/pre".*"\/post"/,
    );
    refused(await post('RunAnalyticTemplate', { template: 'none', pre: [], post: [] }), 404);
  });

  it('do not keep others waiting while they run, whatever patterns and texts are', async function () {
    this.timeout(300_000);
    const heavy = { type: 'regex', preRegex: '(x+x+)+y', postRegex: '(?:x?){20}x{20}y' };
    ok(
      await post('createAnalyticTemplate', {
        template: { name: 'Heavy', prepostCommands: [{ rules: Array.from({ length: 100 }, () => heavy) }] },
      }),
    );
    const text = 'x'.repeat(500_000);
    let answered = 0;
    const run = post('RunAnalyticTemplate', { template: 'Heavy', pre: [text], post: [text] });
    let running = true;
    const looking = (async () => {
      while (running) {
        await service.ask('GET', '/health/live');
        answered++;
      }
    })();
    const { result } = ok(await run);
    running = false;
    await looking;
    assert.equal(result, false);
    assert.ok(answered > 5, `others were answered ${answered} times meanwhile`);
  });
});
