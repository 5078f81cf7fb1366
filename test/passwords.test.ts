import assert from 'node:assert/strict';
import { Refusal } from '../src/domain/refusal.ts';
import { passwords } from '../src/passwords.ts';

describe('passwords', () => {
  const { hashPassword, verifyPassword } = passwords();

  it('are hashed with scrypt, N=2^14, r=8, p=5, a salt each, all in one text', async () => {
    const [a, b] = await Promise.all([hashPassword('pässword:1'), hashPassword('pässword:1')]);
    assert.match(a, /^\$scrypt\$ln=14,r=8,p=5\$[\w+/]{22}==\$[\w+/]{43}=$/);
    assert.notEqual(a, b);
    assert.ok(await verifyPassword('pässword:1', a));
    assert.ok(!await verifyPassword('pässword:2', a));
  });
  it('are checked with the parameters that they were hashed with', async () => {
    // Python: base64(hashlib.scrypt(b'password', salt=b'saltsaltsaltsalt', n=2**10, r=4, p=1, dklen=32))
    const hashed = '$scrypt$ln=10,r=4,p=1$c2FsdHNhbHRzYWx0c2FsdA==$FMw9ZU3gdKzGpBYc2OJJ2o8TDprJ0C5ibHyFdt28BIQ=';
    assert.ok(await verifyPassword('password', hashed));
    assert.ok(!await verifyPassword('passwort', hashed));
  });
  it('are the same however their accents are composed', async () => {
    assert.ok(await verifyPassword('pa\u0308ssword', await hashPassword('p\u00e4ssword')));
  });
  it('fail without a hash, not before the time that a hash takes', async () => {
    const time = async (hashed: string | undefined) => {
      const start = performance.now();
      assert.ok(!await verifyPassword('wrong', hashed));
      return performance.now() - start;
    };
    const hashed = await hashPassword('right');
    const [without, withOne] = [await time(undefined), await time(hashed)];
    assert.ok(without > withOne / 4, `${without} ms without, ${withOne} ms with a hash`);
  });
  it('may have 1024 bytes', async () => {
    await assert.rejects(hashPassword('ä'.repeat(513)), (error) => error instanceof Refusal && error.code === 'invalid');
  });
  it('leave the event loop free', async () => {
    let turns = 0;
    const counting = setInterval(() => turns++, 1);
    await hashPassword('password');
    clearInterval(counting);
    assert.ok(turns >= 3, `${turns} turns`);
  });
  it('are refused when too many wait, and taken again afterwards', async () => {
    const busy = passwords();
    const cheap = (await hashPassword('x')).replace('ln=14,r=8,p=5', 'ln=10,r=1,p=1');
    const outcomes = await Promise.allSettled(Array.from({ length: 110 }, () => busy.verifyPassword('y', cheap)));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    assert.equal(refused.length, 8);
    for (const { reason } of refused) assert.ok(reason instanceof Refusal && reason.code === 'limited' && reason.retryAfterSeconds! > 0);
    assert.equal(await busy.verifyPassword('y', cheap), false);
  });
});
