import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { vlanRollout } from '../../../src/demo/prebuilts.ts';
import type { Bundle, PrebuiltDocument } from '../../../src/domain/prebuilts/prebuiltSchemas.ts';
import { startWorker } from '../../../src/process/startWorker.ts';
import { projectionVersion } from '../../../src/projections/engine/version.ts';
import { readSnapshot } from '../../../src/projections/snapshots/snapshot.ts';
import type { SnapshotWork } from '../../../src/projections/snapshots/snapshotWorker.ts';
import { openSqliteReader } from '../../../src/store/sqlite/store.ts';
import { ok } from '../../support/people.ts';
import { longestTurn, processorTime } from '../../support/processorTime.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const megabyte = 1024 * 1024;

/** A package of about 20 MB: many forms and templates, and one workflow that is large by itself. */
const large = (): PrebuiltDocument => {
  const properties = (size: number) =>
    Object.fromEntries(
      Array.from({ length: size }, (_, i) => [
        `member_${i}`,
        { type: 'string', title: `Member ${i} – Größe`, description: 'What an operator fills in here' },
      ]),
    );
  const forms = Array.from(
    { length: 60 },
    (_, i): Bundle => ({
      type: 'forms',
      data: {
        name: `Large form ${i}`,
        schema: { type: 'object', title: 'Large', properties: properties(350) },
        uiSchema: { more: 'x'.repeat(150_000) },
      },
    }),
  );
  const templates = Array.from(
    { length: 60 },
    (_, i): Bundle => ({
      type: 'template',
      data: { name: `Large template ${i}`, template: `interface {{ name }}\n description "${i}"\n`.repeat(1600) },
    }),
  );
  const workflow: Bundle = {
    type: 'integrationModel',
    data: {
      name: 'Large workflow',
      tasks: Object.fromEntries(
        Array.from({ length: 20_000 }, (_, i) => [
          `t${i}`,
          { name: 'stub', x: i, y: 0, variables: { incoming: { a: [1, 2, 3] }, note: 'y'.repeat(150) } },
        ]),
      ),
    },
  };
  return {
    ...vlanRollout,
    metadata: { ...vlanRollout.metadata, name: 'large' },
    bundles: [...forms, ...templates, workflow],
  };
};

describe('A package of 20 MB', function () {
  this.timeout(900_000);
  let service: TestService;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  it('goes in and out with bounded work, while others are answered; also after a restart', async () => {
    const whole = large();
    const text = JSON.stringify({ prebuilt: whole });
    assert.ok(text.length > 19 * megabyte && text.length < 24 * megabyte, `${text.length}`);
    const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
      const [spent, longest] = [processorTime(), longestTurn()];
      const done = await work();
      const [took, turn] = [spent(), longest()];
      if (process.env.TEST_LOG)
        process.stderr.write(
          `${what}: ${took.toFixed(0)} ms of processor time, ${turn.toFixed(0)} in one turn, rss ${(process.memoryUsage().rss / megabyte).toFixed(0)} MB\n`,
        );
      assert.ok(took < 200_000, `${what} took ${took} ms of processor time`);
      assert.ok(turn < 10_000, `${what} stopped everybody for ${turn} ms of processor time`);
      return done;
    };
    const exported = async (): Promise<string> => {
      const answer = await service.ask('GET', '/prebuilts/large/export');
      assert.deepEqual({ ...ok(answer), manifest: whole.manifest }, whole);
      return answer.text;
    };
    let answered = 0;
    const asking = { going: true };
    const others = (async () => {
      while (asking.going) {
        ok(await service.ask('GET', '/json-forms/forms?limit=1'));
        answered++;
      }
    })();
    const { data } = ok(await timed('import', () => service.ask('POST', '/prebuilts/import', text)));
    asking.going = false;
    await others;
    assert.equal(data.installed.length, 120);
    assert.ok(answered > 5, `others were answered ${answered} times`);
    const out = await timed('export', exported);
    // On a slow machine the installation goes on after the answer. Until it is complete, nothing replaces the package.
    const other = { prebuilt: { ...whole, bundles: [] } };
    await until(async () => (await service.ask('POST', '/prebuilts/import', other)).status === 409);
    assert.equal(ok(await timed('the same again', () => service.ask('POST', '/prebuilts/import', text))).status, 'OK');
    assert.ok((await service.ask('GET', '/prebuilts')).text.length < 100_000, 'lists do not carry the documents');
    service = await timed('restart', () => service.restart());
    assert.equal(await timed('export after a restart', exported), out);

    const log = join(service.folder, 'events.db');
    const file = join(service.folder, 'read-models.snapshot');
    const reader = await openSqliteReader(log);
    const origin = { log: reader.id, version: projectionVersion() };
    await reader.close();
    await timed('snapshot', () =>
      once(
        startWorker('projections/snapshots/snapshotWorker', {
          log: { file: log },
          file,
          origin,
        } satisfies SnapshotWork),
        'exit',
      ),
    );
    assert.ok((await readSnapshot(file, origin))!.checkpoint.position > 0);
    service = await timed('restart on the snapshot', () => service.restart());
    assert.equal(await timed('export after that', exported), out);
  });
});
