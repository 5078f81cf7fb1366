/*
 * Makes the types of packages/client of the description of the API: `Schemas` and `Operations`, and the table of their
 * methods and paths.
 */

type Json = { readonly [name: string]: any };

// any: an OpenAPI document

const quoted = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ') || 'never';

const inBrackets = (type: string): string => (/ [|&] |^readonly /.test(type) ? `(${type})` : type);

const objectType = ({ properties = {}, required = [], additionalProperties, patternProperties }: Json): string => {
  const members = Object.entries<Json>(properties).map(
    ([name, schema]) => `readonly ${quoted(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  const further = Object.values<Json>(patternProperties ?? {});
  if (typeof additionalProperties === 'object') further.push(additionalProperties);
  const isOpen =
    additionalProperties === true || (additionalProperties === undefined && members.length + further.length === 0);
  // A further member may have any type where a known one has another.
  const type = isOpen || members.length > 0 ? 'unknown' : union(further.map(typeOf));
  if (isOpen || further.length > 0) members.push(`readonly [name: string]: ${type}`);
  return members.length > 0 ? `{ ${members.join('; ')} }` : 'Readonly<Record<string, never>>';
};

const byType = (type: string, schema: Json): string => {
  if (type === 'object') return objectType(schema);
  if (type === 'array') return `readonly ${inBrackets(schema.items ? typeOf(schema.items) : 'unknown')}[]`;
  return { integer: 'number', number: 'number', string: 'string', boolean: 'boolean', null: 'null' }[type] ?? 'unknown';
};

/** The type of a schema. Conditions (`if`) and bounds have no type. */
const typeOf = (schema: Json): string => {
  if (schema.$ref) return `Schemas['${schema.$ref.split('/').at(-1)}']`;
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map((one: unknown) => JSON.stringify(one)));
  if (schema.anyOf) return union(schema.anyOf.map(typeOf));
  if (schema.type === undefined) return schema.properties ? objectType(schema) : 'unknown';
  return union([schema.type].flat().map((type: string) => byType(type, schema)));
};

const comment = (text: string | undefined): string =>
  text === undefined ? '' : `/** ${text.replaceAll('*/', '* /')} */ `;

/** A member of a call's input; it may be left out where nothing in it is required. */
const inputOf = (name: string, parameters: readonly Json[]): readonly string[] => {
  if (parameters.length === 0) return [];
  const members = parameters.map(
    ({ name, required = false, schema, style }) =>
      `readonly ${quoted(name)}${required ? '' : '?'}: ${style === 'deepObject' ? deepType(schema) : typeOf(schema)}`,
  );
  const isRequired = parameters.some(({ required }) => required);
  return [`readonly ${name}${isRequired ? '' : '?'}: { ${members.join('; ')} }`];
};

/** In a query each member may come several times. */
const deepType = (schema: Json): string =>
  objectType(schema).replaceAll(/: string(?=[; ])/g, ': string | readonly string[]');

// The call itself sees to these, or has no use for them.
const unused = ['If-None-Match'];

const typed = ['application/json', 'text/plain'];

export const clientOperations = ({ paths, components }: Json): string => {
  const parameterOf = (one: Json): Json => (one.$ref ? components.parameters[one.$ref.split('/').at(-1)] : one);
  const operations = Object.entries<Json>(paths)
    .flatMap(([path, methods]) =>
      Object.entries<Json>(methods).map(([method, operation]) => ({ path, method, operation })),
    )
    // Programs that are generated have no use for a second address.
    .filter(({ operation }) => !operation['x-compatibility'])
    .flatMap(({ path, method, operation }) => {
      const { operationId, summary, parameters = [], requestBody, responses } = operation;
      const content: Json = responses['200']?.content ?? {};
      const kind = typed.find((one) => one in content);
      if (kind === undefined) return [];
      const all = (parameters as readonly Json[]).map(parameterOf).filter(({ name }) => !unused.includes(name));
      const within = (place: string) => all.filter((one) => one.in === place);
      const body = requestBody?.content['application/json'];
      const input = [
        ...inputOf('path', within('path')),
        ...inputOf('query', within('query')),
        ...inputOf('headers', within('header')),
        ...(body ? [`readonly body${requestBody.required ? '' : '?'}: ${typeOf(body.schema)}`] : []),
      ];
      const answer = kind === 'text/plain' ? 'string' : typeOf(content[kind].schema);
      return [{ operationId, summary, address: `${method.toUpperCase()} ${path}`, input: input.join('; '), answer }];
    });
  const schemas = Object.entries<Json>(components.schemas);
  return `// Made of the description of the API (/openapi.json) by \`npm run golden\`. Not to be changed by hand.

/** The documents of the platform. */
export type Schemas = {
${schemas.map(([name, schema]) => `  ${comment(schema.description)}readonly ${quoted(name)}: ${typeOf(schema)};`).join('\n')}
};

/** The input and the answer of each operation. */
export type Operations = {
${operations.map(({ operationId, summary, input, answer }) => `  ${comment(summary)}readonly ${quoted(operationId)}: { readonly input: { ${input} }; readonly answer: ${answer} };`).join('\n')}
};

/** The method and the path of each operation. */
export const addresses: Readonly<Record<keyof Operations, string>> = {
${operations.map(({ operationId, address }) => `  ${quoted(operationId)}: ${JSON.stringify(address)},`).join('\n')}
};
`;
};
