import assert from 'node:assert/strict';
import { cliLines, merge, parse, print } from '../../src/index.ts';

describe('A configuration of the lab', () => {
  const sections = (text: string) => parse(text).sections;
  const merged = (before: string, change: string) => print(merge(merge([], sections(before)), sections(change)));

  it('takes further lines, replaces those of which there is one, and loses those that a no names', () => {
    assert.equal(
      merged(
        'hostname a\nntp server 1\nntp server 2\ninterface E1\n shutdown\n mtu 1500\n',
        'hostname b\nno ntp server 1\nntp server 3\ninterface E1\n no shutdown\n mtu 9000\n description x\n',
      ),
      '!\nhostname b\nntp server 2\ninterface E1\n mtu 9000\n description x\n!\nntp server 3\nend\n',
    );
    assert.equal(merged('vlan 20\n name voice\nntp server 1\nntp server 2\n', 'no vlan 20\nno ntp\n'), '!\nend\n');
  });
  it('is read with and without indentation', () =>
    assert.deepEqual(
      sections('interface E1\ndescription x\nexit\nhostname a\n'),
      sections('hostname z\ninterface E1\n  description   x\n!\nhostname a\n').slice(1),
    ));
  it('is the same when it is read again as it is printed', () => {
    const text = merged(
      '',
      'hostname a\nbanner motd ^C\n  Keep out!\n^C\ninterface E1\n description x\nline vty 0 4\n transport input ssh\n',
    );
    assert.equal(print(sections(text)), text);
  });
  it('of many thousand lines is merged at once', () => {
    const lines = Array.from({ length: 60_000 }, (_, i) => `ntp server ${i}`).join('\n');
    assert.equal(merged(lines, lines.replace(/^/gm, 'no ')), '!\nend\n');
  }).timeout(20_000);
  it('has banners as one command', () =>
    assert.deepEqual(
      cliLines('banner motd #one#\r\n\r\nbanner login ^C\n a\n\n^C\nntp server 1\nbanner exec #\nnever closed'),
      ['banner motd #one#', 'banner login ^C\n a\n\n^C', 'ntp server 1', 'banner exec #\nnever closed'],
    ));
});
