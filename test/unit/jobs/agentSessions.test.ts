import { agentSession, end, note, post, start } from '../../../src/domain/agent-session-manager/agentSessions.ts';
import { specification } from '../../support/given.ts';

const given = specification(agentSession);

const callback = { location: 'job 7', serviceName: 'itsm', methodName: 'done', identifier: 'INC1' };

const agent = { id: 'a', name: 'Triage' };

const refs = { agent: { ...agent, timeout: 60 }, faults: [], inputs: { site: 'Bonn' } };

const started = {
  topic: 'sessionStarted',
  data: { agent, inputs: { site: 'Bonn' }, timeout: 60, lastMessage: 'Started' },
} as const;

const posted = { topic: 'sessionPosted', data: {} } as const;

describe('A session', () => {
  it('is started with inputs that fit an agent that is there', () => {
    given().when(start, { agent: 'Triage' }, refs).then(started);
    given()
      .when(start, { agent: 'Triage', terminationCallbackSignature: callback }, refs)
      .then({ ...started, data: { agent, inputs: { site: 'Bonn' }, timeout: 60, callback, lastMessage: 'Started' } });
    given()
      .when(start, { agent: 'Triage' }, { ...refs, agent: undefined })
      .thenRefused('not_found', /\/agent/);
    given()
      .when(start, { agent: 'Triage' }, { ...refs, faults: [{ message: 'is required', path: '/inputs/site' }] })
      .thenRefused('unprocessable', /\/inputs\/site/);
  });

  it('tells nobody in the name of the platform', () => {
    for (const [bad, path] of [
      [{ serviceName: '@platform/mop' }, /serviceName/],
      [{ serviceName: '$x' }, /serviceName/],
      [{ methodName: 'a:b' }, /methodName/],
    ] as const)
      given()
        .when(
          start,
          { agent: 'Triage', terminationCallbackSignature: { ...callback, ...bad } },
          { ...refs, agent: undefined },
        )
        .thenRefused('invalid', path);
  });

  it('is posted once, and not after its end', () => {
    given(started).when(post, {}).then(posted);
    given(started, posted).when(post, {}).thenNothing();
    given(started, { topic: 'sessionCanceled', data: { lastMessage: '' } })
      .when(post, {})
      .thenNothing();
  });

  it('keeps what is said until it ends', () => {
    given(started)
      .when(note, { lastMessage: 'Looking' })
      .then({ topic: 'sessionMessageReceived', data: { lastMessage: 'Looking' } });
    given(started, { topic: 'sessionFailed', data: { lastMessage: '' } })
      .when(note, { lastMessage: 'Looking' })
      .thenNothing();
  });

  for (const [status, topic] of [
    ['COMPLETE', 'sessionCompleted'],
    ['FAILED', 'sessionFailed'],
    ['CANCELED', 'sessionCanceled'],
  ] as const) {
    it(`ends once: ${status}`, () => {
      const ended = { topic, data: { lastMessage: 'So' } };
      given(started).when(end, { status, lastMessage: 'So' }).then(ended);
      given(started)
        .when(end, { status })
        .then({ topic, data: { lastMessage: 'Started' } });
      given(started, ended).when(end, { status, lastMessage: 'So' }).thenNothing();
      given(started, ended).when(end, { status }).thenNothing();
      given(started, ended).when(end, { status, lastMessage: 'Other' }).thenRefused('conflict', new RegExp(status));
      for (const other of ['COMPLETE', 'FAILED', 'CANCELED'] as const)
        if (other !== status)
          given(started, ended).when(end, { status: other }).thenRefused('conflict', new RegExp(status));
    });
  }
});
