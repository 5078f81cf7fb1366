import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { describeOwnRedis } from '../../support/redisServer.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

describeOwnRedis('the service over Redis', (redis) => {
  let service: TestService;
  before(async () => {
    service = await startService({ READSTORE_URL: redis().url });
  });
  after(() => service.stop());

  const troubles: Record<string, () => Promise<unknown>> = {
    FLUSHALL: () => redis().command('FLUSHALL'),
    'killed connections': () => redis().command('CLIENT', 'KILL', 'TYPE', 'normal'),
    'a crash that forgets everything': async () => {
      await redis().kill();
      await redis().start();
    },
    'an outage': async () => {
      await redis().kill();
      await pause(300);
      await redis().start();
    },
  };

  for (const [trouble, happen] of Object.entries(troubles)) {
    it(`never answers wrongly through ${trouble}, and heals by itself`, async () => {
      const path = `/group-mappings/redis/${encodeURIComponent(trouble)}`;
      let acknowledged = -1;
      let stop = false;
      const writing = (async () => {
        for (let i = 0; !stop; i++) {
          const { status, text } = await service.ask('PATCH', path, { updates: { platformGroups: [String(i)] } });
          assert.ok(status === 200 || status === 503, `PATCH ${status} ${text}`);
          if (status === 200) acknowledged = i;
        }
      })();
      const wrong: string[] = [];
      const reading = (async () => {
        while (!stop) {
          const least = acknowledged;
          if (least < 0) {
            await new Promise(setImmediate);
            continue;
          }
          const single = await service.ask('GET', path);
          if (single.status === 200 ? Number(single.body.platformGroups[0]) < least : single.status !== 503)
            wrong.push(`GET ${single.status} ${single.text}, acknowledged ${least}`);
          const list = await service.ask('GET', '/group-mappings?limit=100');
          const found = list.body?.results?.find(
            ({ externalGroup }: { externalGroup: string }) => externalGroup === trouble,
          );
          if (list.status === 200 ? !(Number(found?.platformGroups[0]) >= least) : list.status !== 503)
            wrong.push(`list ${list.status} ${list.text}, acknowledged ${least}`);
        }
      })();
      try {
        await until(() => acknowledged >= 5, 'anything stored');
        await happen();
        const healed = acknowledged + 5;
        await until(async () => (await service.ask('GET', path)).status === 200 && acknowledged >= healed, 'healing');
      } finally {
        stop = true;
        await Promise.all([writing, reading]);
      }
      assert.deepEqual(wrong, []);
      assert.equal(Number((await service.ask('GET', path)).body.platformGroups[0]), acknowledged);
    });
  }

  it('starts again on what Redis holds, and equals what it was', async () => {
    const before = (await service.ask('GET', '/group-mappings?limit=100')).body;
    service = await service.restart();
    assert.deepEqual((await service.ask('GET', '/group-mappings?limit=100')).body, before);
  });
});
