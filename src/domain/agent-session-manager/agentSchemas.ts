import { type Static, Type } from 'typebox';
import { authored, objectId } from '../engine/authors.ts';
import { name } from '../engine/schemas.ts';

/** The timeout of a session in seconds, unless its agent has another. */
export const defaultTimeout = 300;
const mostTimeout = 86_400;

const url = Type.String({
  description: 'Where a webhook is called: http or https, without credentials (they go into headers)',
  maxLength: 2048,
  pattern: '^https?://[^\\s/?#@\\\\]+([/?][^\\s#]*)?$',
});
const headers = Type.Unsafe<Readonly<Record<string, string>>>({
  type: 'object',
  maxProperties: 50,
  additionalProperties: false,
  patternProperties: {
    "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$": {
      type: 'string',
      minLength: 1,
      maxLength: 16_384,
      pattern: '^[\\x20-\\x7e]+$',
    },
  },
  description: 'Headers of the call; values are kept sealed and shown as ********',
});
const template = Type.String({
  description: "Jinja2 template over the inputs; what it renders is the session's last message",
  minLength: 1,
});

const content = {
  name: name('Name, unique among agents'),
  inputSchema: Type.Unsafe<Readonly<Record<string, unknown>>>(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description: 'JSON Schema (draft-07, or 2020-12 if $schema says so) of the inputs of its sessions',
      },
    ),
  ),
  runner: Type.Enum(['template', 'webhook'], {
    description: 'template: its template is rendered; webhook: its URL is called',
  }),
};
const optional = {
  url: Type.Optional(url),
  headers: Type.Optional(headers),
  template: Type.Optional(template),
};
const description = Type.String({ description: 'Its purpose' });
const timeout = Type.Integer({
  description: `Seconds after which a session fails; ${defaultTimeout} unless given`,
  minimum: 1,
  maximum: mostTimeout,
});

/** The body of an agent. Each runner has fields of its own. */
export const newAgentSchema = {
  ...Type.Object(
    { ...content, description: Type.Optional(description), ...optional, timeout: Type.Optional(timeout) },
    {
      additionalProperties: false,
      title: 'NewAgent',
      description: 'Definition of an agent; ******** keeps the value of a header',
    },
  ),
  allOf: [
    {
      if: { type: 'object', required: ['runner'], properties: { runner: { const: 'webhook' } } },
      then: { type: 'object', required: ['url'], properties: { url: {}, template: false } },
    },
    {
      if: { type: 'object', required: ['runner'], properties: { runner: { const: 'template' } } },
      then: { type: 'object', required: ['template'], properties: { template: {}, url: false, headers: false } },
    },
  ],
};
export type NewAgent = Static<typeof newAgentSchema>;

/** An agent in answers. */
export const agentSchema = Type.Object(
  { _id: objectId('Id'), ...content, description, ...optional, timeout, ...authored },
  { title: 'Agent', description: 'Agent; values of headers are shown as ********' },
);
