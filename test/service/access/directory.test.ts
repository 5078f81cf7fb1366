import assert from 'node:assert/strict';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { LdapProperties } from '../../../src/domain/authorization/providerSchemas.ts';
import { blockList } from '../../../src/southbound/addresses.ts';
import { cnOf, DirectorySilent, ldapDirectory } from '../../../src/southbound/directory.ts';
import { outbound } from '../../../src/southbound/outbound.ts';
import { root } from '../../support/certificates.ts';
import { openProxy } from '../../support/proxy.ts';
import { sampled } from '../../support/sample.ts';
import { describeSlapd, groupEntry, personEntry, searcher } from '../../support/slapd.ts';

const dnOf = (uid: string) => `uid=${uid},ou=people,dc=example`;
const groupDn = (cn: string) => `cn=${cn},ou=groups,dc=example`;
const levels = Array.from({ length: 12 }, (_, i) =>
  groupEntry(`level ${i}`, [i === 0 ? dnOf('deep') : groupDn(`level ${i - 1}`)]),
);
const odd = ['zoë', '佐藤', 'a&b', 'a=b', '#a', 'a|b', '!a', 'a"b', "o'hara", 'a;b', 'a<b>', '~a', 'anna*'];
const quoted = (uid: string) => dnOf(uid.replace(/[,+"\\<>;=#]/g, (char) => `\\${char}`));

/** People in teams, all of which are in one group: 20,000 in soak. */
const crowd = Array.from({ length: process.env.SOAK_ROUNDS ? 20_000 : 500 }, (_, i) => `p${i}`);
const teams = 50;
const teamOf = (n: number): string => `team ${n % teams}`;

const entries = () =>
  [
    personEntry('anna', { givenName: 'Anna', mail: 'anna@example.net' }),
    ...odd.map((uid) => personEntry(uid).replace(/^.*\n/, `dn:: ${Buffer.from(quoted(uid)).toString('base64')}\n`)),
    ...['twin', 'twin2', 'twin3', 'deep', 'full', 'many', 'moving'].map((uid) =>
      personEntry(uid, { mail: 'same@example.net' }),
    ),
    ...crowd.map((uid) => personEntry(uid)),
    ...Array.from({ length: teams }, (_, team) =>
      groupEntry(teamOf(team), crowd.filter((__, n) => n % teams === team).map(dnOf)),
    ),
    groupEntry(
      'staff',
      Array.from({ length: teams }, (_, team) => groupDn(teamOf(team))),
    ),
    groupEntry('noc', [dnOf('anna')]),
    groupEntry('a', [groupDn('c'), dnOf('anna')]),
    groupEntry('b', [groupDn('a')]),
    groupEntry('c', [groupDn('b')]),
    groupEntry('Größe\\, und \\+mehr', [dnOf('anna')]),
    ...levels,
    ...Array.from({ length: 5001 }, (_, i) =>
      groupEntry(`g${i}`, i === 0 ? [dnOf('many')] : [dnOf('many'), dnOf('full')]),
    ),
  ].join('');

/** Ways to break out of a filter or of a name, around names that are there. None of them is anybody's. */
const hostile = [
  '*',
  '*)',
  '(',
  ')',
  '\\',
  '\\2a',
  '\\00',
  '\0',
  ')(uid=*',
  ')(|(uid=*',
  '*)(uid=*))(|(uid=*',
  '))%00',
  ',',
  '+',
]
  .flatMap((text) => [text, `anna${text}`, `${text}anna`, `an${text}na`, `${text}a`, `a${text}`])
  .concat(
    [
      'anna)(&',
      'anna)(|(cn=*)',
      '(|(uid=anna)(uid=*))',
      'uid=anna',
      dnOf('anna'),
      'an\\6ea',
      '\u202eanna',
      'anna\u200d!',
    ],
    [
      '{{username}}',
      '{{dn}}',
      '$&',
      '$1',
      '__proto__',
      'constructor',
      '\ud800anna',
      '%2a',
      '&#42;',
      'anna\n*',
      'an na',
    ],
    Array.from({ length: 98 }, (_, i) => `anna${String.fromCharCode(33 + (i % 15))}${i})(uid=*`),
  )
  .filter((text) => !odd.includes(text));

const guard = outbound({
  allowed: { hosts: new Set(['localhost']), addresses: blockList([]) },
  stores: [],
  resolve: (host) => lookup(host, { all: true, family: 4 }),
});
const ask = ldapDirectory(guard, () => assert.fail('Nothing is sealed'));

describeSlapd('a directory', entries, (directory) => {
  const properties = (more: Partial<LdapProperties> = {}): LdapProperties => ({
    urls: [directory().tls],
    ca: directory().ca,
    userBase: 'ou=people,dc=example',
    groupBase: 'ou=groups,dc=example',
    ...searcher,
    ...more,
  });
  const about = (username: string, password?: string, more: Partial<LdapProperties> = {}) =>
    ask({ name: 'corp', properties: properties(more) }, { username, password });
  const silent = (work: Promise<unknown>, reason: RegExp) =>
    assert.rejects(work, (error) => error instanceof DirectorySilent && reason.test(error.message));

  it('says who a person is, whether the password is theirs, and what groups they have', async () => {
    const answer = await about('anna', 'password of anna');
    assert.ok(answer);
    const { dn, username, firstname, email, externalId } = answer.person;
    assert.deepEqual([dn, username, firstname, email], [dnOf('anna'), 'anna', 'Anna', 'anna@example.net']);
    assert.match(externalId, /^[0-9a-f-]{36}$/);
    assert.equal(answer.authenticated, true);
    assert.deepEqual(answer.externalGroups, ['Größe, und +mehr', 'a', 'noc']);
    assert.equal((await about('anna'))?.authenticated, null);
    const wrong = await about('anna', 'wrong');
    assert.deepEqual([wrong?.authenticated, wrong?.externalGroups], [false, []]);
    for (const nobody of ['nobody', '']) assert.equal(await about(nobody, 'x'), undefined);
    assert.equal(await about('anna', ''), undefined);
  });

  it('knows a person again by their id, under another name, and nobody else', async () => {
    const again = (username: string, externalId: string, more: Partial<LdapProperties> = {}) =>
      ask({ name: 'corp', properties: properties(more) }, { username, externalId });
    const { externalId = '' } = (await about('moving'))?.person ?? {};
    assert.deepEqual((await again('moving', externalId))?.externalGroups, []);
    await directory().change((client) => client.modifyDN(dnOf('moving'), dnOf('moved')));
    const moved = await again('moving', externalId);
    assert.deepEqual([moved?.person.username, moved?.authenticated], ['moved', null]);
    assert.equal((await again('anna', externalId))?.person.username, 'moved');
    const locked = { userFilter: '(&(uid={{username}})(!(uid=moved)))' };
    assert.equal(await again('moving', externalId, locked), undefined);
    for (const id of ['', '*', ')(uid=*', 'f'.repeat(32), dnOf('moved'), externalId.replace(/^./, 'x')])
      assert.equal(await again('moved', id), undefined, id);
    await directory().change((client) => client.del(dnOf('moved')));
    for (const name of ['moving', 'moved', 'anna']) assert.equal(await again(name, externalId), undefined);
  });

  it('follows groups of groups to a depth of 10, and loops end', async () => {
    const anna = await about('anna', undefined, { nestedGroups: true });
    assert.deepEqual(anna?.externalGroups, ['Größe, und +mehr', 'a', 'b', 'c', 'noc']);
    const deep = await about('deep', undefined, { nestedGroups: true });
    assert.equal(deep?.externalGroups.length, 10);
    assert.equal((await about('deep'))?.externalGroups.length, 1);
  });

  it(`knows ${crowd.length.toLocaleString('en')} people with their groups of groups, all at once`, async () => {
    const size = crowd.length;
    const asked = sampled([...crowd.keys()], 40, 500);
    const answers = await Promise.all(
      asked.map((n) => about(`p${n}`, `password of p${n}`, { nestedGroups: true, timeout: 60_000 })),
    );
    for (const [i, answer] of answers.entries()) {
      const n = asked[i]!;
      assert.deepEqual(
        [answer?.person.username, answer?.authenticated, answer?.externalGroups],
        [`p${n}`, true, ['staff', teamOf(n)]],
      );
    }
    assert.equal(await about(`p${size}`, 'x'), undefined);
    assert.equal(await about('everybody', undefined, { userFilter: '(|(uid={{username}})(uid=p*))' }), undefined);
  }).timeout(120_000);

  it('gives 5,000 groups; more count as no answer', async () => {
    const slow = { timeout: 60_000 };
    assert.equal((await about('full', 'password of full', slow))?.externalGroups.length, 5000);
    await silent(about('many', undefined, slow), /too large/);
  });

  it('is reached by TLS of the authority that is named, by StartTLS, and in the clear on loopback alone', async () => {
    const { plain, tls } = directory();
    assert.ok(await about('anna', 'password of anna', { urls: [plain], startTls: true }));
    assert.ok(await about('anna', 'password of anna', { urls: [plain] }));
    await silent(about('anna', 'x', { ca: root }), /the connection failed/);
    await silent(about('anna', 'x', { urls: [plain], startTls: true, ca: root }), /failed/);
    await silent(about('anna', 'x', { urls: [tls.replace('localhost', '127.0.0.1')] }), /OUTBOUND_ALLOW/);
    await silent(about('anna', 'x', { bindPassword: 'wrong' }), /InvalidCredentialsError/);
    await silent(about('anna', 'x', { userBase: 'ou=none,dc=example' }), /NoSuchObjectError/);
    // It leads elsewhere, and nobody follows.
    await silent(about('anna', 'x', { userBase: 'dc=elsewhere' }), /leads to another server/);
  });

  it('is asked over connections that are open already, of its searcher and of callers, and over others once they have ended', async () => {
    const proxy = await openProxy(Number(new URL(directory().tls).port));
    const where = { urls: [`ldaps://localhost:${proxy.port}`], timeout: 1500 };
    const isRight = async (password: string, more: object = {}) =>
      (await about('anna', password, { ...where, ...more }))?.authenticated;
    try {
      for (let n = 0; n < 5; n++)
        assert.deepEqual([await isRight('wrong'), await isRight('password of anna')], [false, true]);
      assert.equal(proxy.connections(), 2);
      await silent(about('anna', 'x', { ...where, bindPassword: 'wrong' }), /InvalidCredentials/);
      const before = proxy.connections();
      for (let n = 0; n < 3; n++)
        assert.equal(await isRight('password of anna', { bindDn: undefined, bindPassword: undefined }), true);
      assert.equal(proxy.connections(), before + 2, 'nobody searches over them');
      proxy.cut();
      proxy.resume();
      assert.equal(await isRight('password of anna'), true);
      proxy.silence();
      await silent(about('anna', 'x', where), /in time/);
      assert.equal(await isRight('password of anna'), true);
      const open = proxy.connections();
      await Promise.all(Array.from({ length: 200 }, () => isRight('password of anna')));
      assert.ok(proxy.connections() <= open + 2 * 32, `${proxy.connections() - open} connections`);
    } finally {
      await proxy.close();
    }
  });

  it('is asked for groups as the person where there is no searcher', async () => {
    const alone: object = { bindDn: undefined, bindPassword: undefined };
    const groups = (await about('anna', 'password of anna'))?.externalGroups ?? [];
    assert.ok(groups.length > 0);
    assert.deepEqual((await about('anna', 'password of anna', alone))?.externalGroups, groups);
    assert.equal((await about('anna', 'wrong', alone))?.authenticated, false);
  });

  it('is asked at its next server when one does not answer', async () => {
    const { plain, tls } = directory();
    assert.ok(await about('anna', undefined, { urls: ['ldaps://localhost:1', plain.replace('ldap:', 'ldaps:'), tls] }));
  });

  it('knows nobody by a name that several have, and everybody by their own, however it is written', async () => {
    assert.equal(await about('same@example.net', undefined, { userFilter: '(mail={{username}})' }), undefined);
    for (const uid of odd) {
      const answer = await about(uid, `password of ${uid}`, { urls: [directory().plain], nestedGroups: false });
      assert.deepEqual([answer?.person.username, answer?.authenticated], [uid.normalize('NFKC'), true], uid);
    }
  });

  it(`lets nobody in by ${hostile.length} names that are filters`, async () => {
    assert.ok(hostile.length >= 200);
    for (const name of hostile)
      for (const userFilter of ['(uid={{username}})', '(|(uid={{username}})(mail={{username}}))'].slice(
        0,
        name.length % 8 === 0 ? 2 : 1,
      ))
        assert.equal(
          await about(name, 'password of anna', {
            urls: [directory().plain],
            userFilter,
            groupBase: undefined,
          } as object),
          undefined,
          JSON.stringify(name),
        );
  });
});

describe('a server that is no good directory', () => {
  const message = (text: string) => Buffer.from(text, 'hex');
  const entry = message('3009020101640404003000');
  const bound = message('300c02010161070a010004000400');
  const bad: Record<string, (socket: Socket) => void> = {
    hangs: () => undefined,
    'ends at once': (socket) => void socket.end(),
    'speaks something else': (socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\n'),
    'sends 10 MB in one message': (socket) =>
      void socket.write(Buffer.concat([message('308400a00000'), Buffer.alloc(10_000_000)])),
    'announces 4 GB': (socket) => void socket.write(message('3084ffffffff020101')),
    'sends a million small messages': (socket) => void socket.write(Buffer.concat(Array(1_000_000).fill(entry))),
    'sends messages that are empty': (socket) => void socket.write(Buffer.alloc(500_000, message('3000'))),
    'lets the searcher in, and then repeats that for ever': (socket) =>
      void socket.write(Buffer.concat(Array(200_000).fill(bound))),
  };
  for (const [what, answer] of Object.entries(bad))
    for (const startTls of [false, true])
      it(`counts as silent when it ${what}${startTls ? ', before TLS' : ''}`, async () => {
        const sockets = new Set<Socket>();
        const server = createServer((socket) => {
          sockets.add(socket.on('error', () => undefined));
          socket.once('data', () => answer(socket));
        }).listen(0, '127.0.0.1');
        await once(server, 'listening');
        const urls = [`ldap://localhost:${(server.address() as AddressInfo).port}`];
        const began = performance.now();
        await assert.rejects(
          ask(
            { name: 'bad', properties: { urls, startTls, userBase: 'dc=x', ...searcher, timeout: 300 } },
            { username: 'anna', password: 'x' },
          ),
          DirectorySilent,
        );
        assert.ok(performance.now() - began < 5_000);
        for (const socket of sockets) socket.destroy();
        server.close();
      });
});

describe('more people at once than a directory is asked about', () => {
  /** A directory that has nobody, and says so after this time; or a directory that hangs. */
  const askMany = async (count: number, answerMs: number | undefined, timeout: number) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (message) => {
        // The id of a message has one byte.
        const id = message[message.indexOf(Buffer.from([2, 1])) + 2] ?? 0;
        const nobody = Buffer.from([0x30, 12, 2, 1, id, 0x65, 7, 10, 1, 0, 4, 0, 4, 0]);
        if (answerMs !== undefined) setTimeout(() => socket.write(nobody), answerMs);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const urls = [`ldap://localhost:${(server.address() as AddressInfo).port}`];
    const properties = { urls, userBase: 'dc=x', timeout };
    const began = performance.now();
    const asked = Array.from({ length: count }, (_, i) =>
      ask({ name: `many ${answerMs}`, properties }, { username: `u${i}`, password: 'x' }),
    );
    const outcomes = await Promise.allSettled(asked);
    server.close();
    return { answered: outcomes.filter(({ status }) => status === 'fulfilled').length, ms: performance.now() - began };
  };

  it('wait as long as it answers others, and no longer', async () => {
    const slow = await askMany(500, 200, 1000);
    assert.equal(slow.answered, 500);
    assert.ok(slow.ms > 2000, `${slow.ms} ms`);
    const hanging = await askMany(100, undefined, 1000);
    assert.equal(hanging.answered, 0);
    assert.ok(hanging.ms < 3000, `${hanging.ms} ms`);
  }).timeout(30_000);
});

describe('the name of a group in a DN', () => {
  const names: readonly (readonly [string, string | undefined])[] = [
    ['cn=noc,ou=groups,dc=example', 'noc'],
    ['CN = noc ,ou=groups', 'noc'],
    ['cn=a\\, b\\+c,dc=x', 'a, b+c'],
    ['cn=Gr\\c3\\b6\\C3\\9Fe,dc=x', 'Größe'],
    ['cn=a+ou=b,dc=x', 'a'],
    ['ou=noc,dc=x', undefined],
    ['', undefined],
  ];
  for (const [dn, name] of names) it(JSON.stringify(dn), () => assert.equal(cnOf(dn), name));
});
