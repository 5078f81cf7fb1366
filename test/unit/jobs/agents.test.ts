import { type AgentContent, agent, create, remove, replace } from '../../../src/domain/agent-session-manager/agents.ts';
import { specification } from '../../support/given.ts';

const given = specification(agent);

const sealed = { $sealed: 'x', tag: 't' };

const refs = { schemaFault: undefined, headers: () => undefined, referrers: [] };

const input = {
  name: 'Triage',
  inputSchema: { type: 'object' },
  runner: 'webhook',
  url: 'https://agents.example.net/triage',
} as const;

const content: AgentContent = { ...input, description: '', timeout: 300 };

const created = { topic: 'agentCreated', data: content } as const;

describe('An agent', () => {
  it('is created with five minutes for its sessions unless it says otherwise', () => {
    given().when(create, input, refs).then(created);
    given()
      .when(
        create,
        { ...input, timeout: 10, headers: { 'X-Key': '********' } },
        { ...refs, headers: () => ({ 'X-Key': sealed }) },
      )
      .then({ topic: 'agentCreated', data: { ...content, timeout: 10, headers: { 'X-Key': sealed } } });
  });

  it('has a schema that can be compiled, a URL that is one, and headers that are its own', () => {
    given()
      .when(create, input, { ...refs, schemaFault: 'no' })
      .thenRefused('invalid', /\/inputSchema/);
    given()
      .when(create, { ...input, url: 'http://a:99999' }, refs)
      .thenRefused('invalid', /\/url/);
    given()
      .when(create, input, { ...refs, headers: () => ({ 'content-LENGTH': sealed }) })
      .thenRefused('invalid', /\/headers\/content-LENGTH/);
    given()
      .when(create, input, { ...refs, headers: () => ({ A: sealed, a: sealed }) })
      .thenRefused('invalid', /\/headers\/a/);
  });

  it('is replaced as a whole; the same again is nothing', () => {
    given(created).when(replace, input, refs).thenNothing();
    const template = { name: 'Triage', inputSchema: {}, runner: 'template', template: 'x' } as const;
    given(created)
      .when(replace, template, refs)
      .then({ topic: 'agentReplaced', data: { ...template, description: '', timeout: 300 } });
    given(created, { topic: 'agentReplaced', data: { ...template, description: '', timeout: 300 } })
      .when(replace, template, refs)
      .thenNothing();
  });

  it('keeps its name and stays, as long as automations name it', () => {
    const named = { ...refs, referrers: [{ kind: 'automation', name: 'Night' }] };
    given(created)
      .when(replace, { ...input, name: 'Other' }, named)
      .thenRefused('conflict', /Night/);
    given(created).when(remove, undefined, named).thenRefused('conflict', /Night/);
    given(created).when(remove, undefined, refs).then({ topic: 'agentDeleted', data: {} });
  });
});
