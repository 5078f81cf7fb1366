import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { chainOf } from '../../../src/commands/gateway-manager/certificateChain.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import {
  add,
  type CertificateEvent,
  certificate,
  certificateId,
  remove,
} from '../../../src/domain/gateway-manager/certificates.ts';
import { expired, gateway, issuing, notYetValid, otherGateway, root } from '../../support/certificates.ts';
import { specification } from '../../support/given.ts';
import { keys } from '../../support/samples/certificates.ts';

/** The PEM with bytes after the end of the certificate within it. */
const prolonged = (pem: string): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.concat([new X509Certificate(pem).raw, Buffer.from('more')]).toString('base64')}\n-----END CERTIFICATE-----\n`;

/** The PEM with one bit of the signature changed. */
const tampered = (pem: string): string => {
  const der = Buffer.from(new X509Certificate(pem).raw);
  der[der.length - 1]! ^= 1;
  return `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;
};

describe('a chain of certificates', () => {
  const wrong = (text: string, words: RegExp): void =>
    assert.throws(
      () => chainOf(text),
      (error) => {
        assert.ok(error instanceof RequestError, String(error));
        assert.deepEqual([error.code, error.faults[0]!.path], ['invalid', '/raw_certificate']);
        assert.match(error.message, words);
        return true;
      },
    );

  it('is read from PEM, however its lines end', () => {
    const [facts, ...others] = chainOf(gateway);
    const { pem, serialNumber, fingerprint256, ...said } = facts!;
    assert.deepEqual(said, {
      subject: 'O=Example Networks, CN=gateway-1.example.net',
      issuer: 'O=Example Networks, CN=Gateway Issuing CA 1',
      validFrom: '2020-01-01T00:00:00.000Z',
      validTo: '2120-01-01T00:00:00.000Z',
    });
    assert.deepEqual(
      [new X509Certificate(pem).fingerprint256, new X509Certificate(gateway).serialNumber, others],
      [fingerprint256, serialNumber, []],
    );
    for (const text of [gateway.replaceAll('\n', '\r\n'), `\n\n  ${gateway}\n\n`, gateway.trim()])
      assert.deepEqual(chainOf(text), [facts]);
    assert.deepEqual(
      chainOf(`${gateway}${issuing}\n${root}`).map(({ fingerprint256 }) => fingerprint256),
      [gateway, issuing, root].map((pem) => new X509Certificate(pem).fingerprint256),
    );
  });
  it('has each certificate issued by the next, and is refused saying which is not', () => {
    wrong(`${gateway}${root}`, /Certificate 1 of 2 is not issued/);
    wrong(`${gateway}${issuing}${otherGateway}`, /Certificate 2 of 3 is not issued/);
    wrong(`${root}${issuing}${gateway}`, /Certificate 1 of 3/);
    wrong(`${gateway}${otherGateway}`, /Certificate 1 of 2/);
    wrong(`${root}${root}`, /Certificate 1 of 2/);
    wrong(`${tampered(gateway)}${issuing}`, /Certificate 1 of 2 is not issued/);
  });
  it('is nothing but certificates', () => {
    wrong('', /no PEM/);
    wrong('hello', /no PEM/);
    wrong(gateway.replaceAll('CERTIFICATE', 'PUBLIC KEY'), /no PEM/);
    wrong(gateway.slice(0, -10), /no PEM/);
    wrong(`${gateway}junk`, /something else/);
    wrong(`subject=gateway\n${gateway}`, /something else/);
    wrong(`${gateway}-----BEGIN CERTIFICATE-----`, /something else/);
    wrong('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', /The certificate cannot be read/);
    wrong(
      `${gateway}-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----`,
      /Certificate 2 of 2 cannot be read/,
    );
    wrong(prolonged(gateway), /something after its end/);
    wrong(gateway.replace('-----END', 'AA==AA==\n-----END'), /The certificate (has|cannot)/);
    wrong(Array.from({ length: 11 }, () => gateway).join(''), /10 certificates/);
  });
  it('with a private key is refused without showing anything of it', () => {
    for (const key of keys()) {
      for (const text of [key, `${gateway}${key}`, `${key}${gateway}`, key.toLowerCase()]) {
        wrong(text, /private key/);
        try {
          chainOf(text);
        } catch (error) {
          assert.ok(!JSON.stringify([error, String(error)]).includes(key.split('\n')[1]!));
        }
      }
    }
  });
  it('of hostile texts is refused in no time', () => {
    for (const text of [
      '-----BEGIN CERTIFICATE-----'.repeat(2400),
      `-----BEGIN CERTIFICATE-----${'A'.repeat(65_000)}`,
      ' '.repeat(65_000),
      `-----BEGIN CERTIFICATE-----${'\n'.repeat(60_000)}-----END CERTIFICATE-----`,
      '-'.repeat(65_000),
      'PRIVATE '.repeat(8000),
    ])
      wrong(text, /./);
  }).timeout(20_000);
});

describe('certificates: decisions', () => {
  const given = specification(certificate);
  const chain = chainOf(gateway);
  const { fingerprint256 } = chain[0]!;
  const added: CertificateEvent = { topic: 'certificateAdded', data: { alias: 'g', contractId: 'c', chain } };
  const request = { raw_certificate: gateway, contract_id: 'c', alias: 'g' };
  it('are added, with the fingerprint for an alias', () => {
    given().when(add, request, chain).then(added);
    given()
      .when(add, { raw_certificate: gateway }, chain)
      .then({ topic: 'certificateAdded', data: { alias: fingerprint256, contractId: '', chain } });
  });
  it('are no change when they are there, and a conflict when another is', () => {
    given(added).when(add, request, chain).thenNothing();
    given(added).when(add, request, chainOf(otherGateway)).thenRefused('conflict', /alias/);
    given(added)
      .when(add, request, chainOf(`${gateway}${issuing}`))
      .thenRefused('conflict', /chain/);
  });
  it('are valid now, each of them', () => {
    given()
      .when(add, request, chainOf(expired))
      .thenRefused('invalid', /expired.*2021-01-01T00:00:00.000Z/);
    given()
      .when(add, request, chainOf(notYetValid))
      .thenRefused('invalid', /not valid before 2099-01-01T00:00:00.000Z/);
    given()
      .when(add, request, [...chain, { ...chain[0]!, validTo: '2025-12-31T23:59:59.000Z' }])
      .thenRefused('invalid', /Certificate 2 of 2 has expired/);
    given()
      .when(add, request, [
        { ...chain[0]!, validFrom: '2026-01-01T00:00:00.000Z', validTo: '2026-01-01T00:00:00.000Z' },
      ])
      .then({
        topic: 'certificateAdded',
        data: {
          ...(added.data as any),
          chain: [{ ...chain[0]!, validFrom: '2026-01-01T00:00:00.000Z', validTo: '2026-01-01T00:00:00.000Z' }],
        },
      }); // the same but for its times
  });
  it('are deleted, and can be added again', () => {
    given(added).when(remove, {}).then({ topic: 'certificateDeleted', data: {} });
    given(added, { topic: 'certificateDeleted', data: {} }).when(add, request, chain).then(added);
  });
  it('have a key of their own for every contract and alias', () => {
    const pairs = [
      ['', 'a b'],
      ['a', 'b'],
      ['', 'a%20b'],
      ['a b', ''],
      ['a%20b', ''],
      ['%20', 'x'],
      [' ', 'x'],
    ] as const;
    assert.equal(new Set(pairs.map(([contract, alias]) => certificateId(contract, alias))).size, pairs.length);
  });
});
