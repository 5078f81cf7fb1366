import assert from 'node:assert/strict';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { forPeople, serviceLogger } from '../../../src/process/logger.ts';

/** What a logger writes of one warning. */
const line = (about: object, message = 'warning'): { text: string; read: any } => {
  // a log line is whatever was told
  let text = '';
  serviceLogger('info', {
    write: (written) => {
      text += written;
    },
  }).warn(about, message);
  return { text, read: JSON.parse(text) };
};

const refused = (): Error => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

describe('the log', () => {
  for (const key of ['error', 'err', 'reason', 'anything']) {
    it(`shows an error under ${key}: message, code, stack and causes`, () => {
      const { read } = line({
        position: 3,
        [key]: new RequestError('unavailable', 'The read models cannot be reached', { cause: refused() }),
      });
      assert.equal(read.position, 3);
      const { stack, cause, ...shown } = read[key];
      assert.deepEqual(shown, {
        type: 'RequestError',
        message: 'The read models cannot be reached',
        code: 'unavailable',
      });
      assert.match(stack, /logger\.test/);
      assert.deepEqual([cause.message, cause.code], ['connect ECONNREFUSED', 'ECONNREFUSED']);
    });
  }

  it('shows errors in lists, in objects, in each other, and an object that contains itself', () => {
    const aggregate = new AggregateError([refused(), refused()], 'No address answers');
    const self: Record<string, unknown> = { aggregate };
    self.self = self;
    const { text, read } = line({ told: [{ reason: aggregate }], self });
    assert.deepEqual(
      read.told[0].reason.errors.map(({ code }: { code: string }) => code),
      ['ECONNREFUSED', 'ECONNREFUSED'],
    );
    assert.equal(read.self.aggregate.message, 'No address answers');
    assert.doesNotMatch(text, /\{\}/);
  });

  it('shows an error that is all there is to tell', () => {
    assert.equal(line(refused()).read.err.message, 'connect ECONNREFUSED');
  });

  it('shows no other member of an error: libraries keep requests and credentials there', () => {
    const { text } = line({ error: Object.assign(refused(), { config: { password: 'hidden' }, body: 'hidden' }) });
    assert.doesNotMatch(text, /hidden/);
  });

  it('shows no user and no password of a URL, wherever it is in the line', () => {
    const urls = [
      'redis://user:hidden@host:6379/0',
      'esdb://:hidden@host',
      'https://hid@den@host/path',
      'https://hidden@host',
    ];
    for (const url of urls) {
      const { text } = line(
        { error: new Error(`No answer from ${url}`, { cause: new Error(url) }), url, list: [url] },
        `Told of ${url}`,
      );
      assert.doesNotMatch(text, /hid/);
      assert.equal(text.split('://***@host').length, 8);
    }
  });

  it('leaves what has no login as it is', () => {
    const texts = [
      'https://host/path?mail=a@b',
      'node_modules/@eventstore/db-client',
      'file:///src/@scope/x.ts',
      'a@b',
    ];
    assert.deepEqual(line({ texts }).read.texts, texts);
  });
});

describe('the log on a terminal', () => {
  /** The lines of one warning, without the time at their beginning. */
  const lines = (about: object, message: string): readonly string[] => {
    const written: string[] = [];
    serviceLogger('info', forPeople({ write: (text) => void written.push(text) })).warn(about, message);
    const text = written.join('');
    assert.match(text, /^\d\d:\d\d:\d\d [^]*\n$/);
    return text.slice('hh:mm:ss '.length, -1).split('\n');
  };

  it('has a line for each entry: level, message, members', () =>
    assert.deepEqual(
      lines({ method: 'GET', path: '/a b', status: 200, milliseconds: 4.0481, list: [1], user: null }, 'request'),
      ['warn  request method=GET path="/a b" status=200 milliseconds=4 list=[1] user=null'],
    ));

  it('has the stacks of an error and of its causes below its line', () => {
    const error = new RequestError('unavailable', 'Nothing answers', { cause: refused() });
    const [first = '', ...below] = lines({ error }, 'No read models');
    assert.match(first, /^warn {2}No read models error=\{.*"message":"Nothing answers".*ECONNREFUSED/);
    assert.deepEqual(
      below.filter((line) => !line.startsWith('      at ')),
      ['  RequestError: Nothing answers', '  Error: connect ECONNREFUSED'],
    );
    assert.ok(below.some((line) => line.includes('logger.test.ts')));
  });

  it('does nothing to the terminal, and no member looks like another entry', () => {
    const shown = lines({ path: '/\u001b[2J\u202e', plain: '\u009b2J' }, 'request\n00:00:00 warn  stopped\u0007');
    assert.deepEqual(
      shown.map((line) => [/^[\x20-\x7e]*$/.test(line), line.startsWith('00:00:00')]),
      [
        [true, false],
        [true, false],
      ],
    );
  });
});
