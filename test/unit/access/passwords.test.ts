import assert from 'node:assert/strict';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { passwords } from '../../../src/secrets/passwords.ts';
import { costs } from '../../support/cheapPasswords.ts';

// Python: base64(hashlib.scrypt(b'password', salt=b'saltsaltsaltsalt', n=2**10, r=4, p=1, dklen=32))
const ofPassword = '$scrypt$ln=10,r=4,p=1$c2FsdHNhbHRzYWx0c2FsdA==$FMw9ZU3gdKzGpBYc2OJJ2o8TDprJ0C5ibHyFdt28BIQ=';

describe('passwords', () => {
  const { hashPassword, verifyPassword: verify } = passwords();
  const verifyPassword = (password: string, hashed: string | undefined) => verify(password, hashed, '10.0.0.1');

  it('are hashed with scrypt, N=2^14, r=8, p=5, a salt each, all in one text', async () => {
    const [a, b] = await Promise.all([hashPassword('pässword:1'), hashPassword('pässword:1')]);
    assert.match(a, /^\$scrypt\$ln=14,r=8,p=5\$[\w+/]{22}==\$[\w+/]{43}=$/);
    assert.notEqual(a, b);
    assert.ok(await verifyPassword('pässword:1', a));
    assert.ok(!(await verifyPassword('pässword:2', a)));
  });
  it('are checked with the parameters that they were hashed with', async () => {
    assert.ok(await verifyPassword('password', ofPassword));
    assert.ok(!(await verifyPassword('passwort', ofPassword)));
  });
  it('are the same however their accents are composed', async () => {
    assert.ok(await verifyPassword('pa\u0308ssword', await hashPassword('p\u00e4ssword')));
  });
  it('fail without a hash, after as much work as a hash takes', async () => {
    const work = async (hashed: string | undefined) => {
      const before = costs.length;
      assert.ok(!(await verifyPassword('wrong', hashed)));
      return costs.slice(before);
    };
    const [without, withOne] = [await work(undefined), await work(await hashPassword('right'))];
    assert.deepEqual(without, withOne);
    assert.equal(without.length, 1);
    assert.deepEqual([without[0]?.N, without[0]?.r, without[0]?.p], [2 ** 14, 8, 5]);
  });
  it('may have 1024 bytes', async () => {
    await assert.rejects(
      hashPassword('ä'.repeat(513)),
      (error) => error instanceof RequestError && error.code === 'invalid',
    );
  });
  it('leave the event loop free', async () => {
    let turns = 0;
    const counting = setInterval(() => turns++, 1);
    await verifyPassword('password', (await hashPassword('password')).replace('p=5', 'p=4'));
    clearInterval(counting);
    assert.ok(turns >= 3, `${turns} turns`);
  });
  it('differ by NULs at their end, as by any other character', async () => {
    for (const nuls of ['\0', '\0\0']) assert.ok(!(await verifyPassword(`password${nuls}`, ofPassword)));
    const hashed = await hashPassword('password\0');
    assert.ok(await verifyPassword('password\0', hashed));
    assert.ok(!(await verifyPassword('password', hashed)));
  });

  describe('of many addresses', () => {
    // At a small cost: only the order counts here.
    const ofNobody = ofPassword.replace('ln=10', 'ln=6');
    const flooded = (times: number) => {
      const busy = passwords();
      const done: string[] = [];
      const check = (from: string) =>
        busy.verifyPassword('y', ofNobody, from).then(() => {
          done.push(from);
        });
      return { done, check, flood: Array.from({ length: times }, () => check('flood')) };
    };

    it('are checked in turn: one address with many holds up another by what is under way', async () => {
      const { done, check, flood } = flooded(300);
      await check('elsewhere');
      // Those under way, and some that a machine under load ends earlier than it.
      assert.ok(done.filter((from) => from === 'flood').length <= 10, `${done.length - 1} before it`);
      await Promise.all(flood);
    });
    it('are refused when too many wait, those of the address that has the most; and taken again afterwards', async () => {
      const { done, check, flood } = flooded(1_100);
      const others = Array.from({ length: 50 }, (_, i) => check(`10.0.0.${i % 25}`));
      const outcomes = await Promise.allSettled(flood);
      await Promise.all(others);
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
      assert.equal(refused.length, 1_100 + 50 - 1_000 - 2);
      for (const { reason } of refused)
        assert.ok(reason instanceof RequestError && reason.code === 'limited' && reason.retryAfterSeconds! > 0);
      await check('flood');
      assert.equal(done.at(-1), 'flood');
    });
  });
});
