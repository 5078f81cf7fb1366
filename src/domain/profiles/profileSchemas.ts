import { type TObject, type TProperties, type TSchema, Type } from 'typebox';
import type { SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { name } from '../engine/schemas.ts';

const text = (description: string) => Type.String({ description, maxLength: 65_536 });
const names = (description: string) => Type.Array(name('Name'), { description, maxItems: 1000 });
const yesOrNo = (description: string, preset?: boolean) =>
  Type.Boolean({ description, ...defined({ default: preset }) });
const whole = (description: string, maximum: number, preset?: number, minimum = 0) =>
  Type.Integer({ description, minimum, maximum, ...defined({ default: preset }) });
const oneOf = <const T extends string>(description: string, values: readonly T[]) =>
  Type.Unsafe<T>(Type.String({ description, enum: values }));
/** An object with members that this service does not know. */
const open = (description: string) =>
  Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Object({}, { description, additionalProperties: true }));
const group = <T extends TProperties>(title: string, description: string, members: T) =>
  Type.Partial(Type.Object(members), { additionalProperties: false, title, description });

const [year, week, day] = [31_536_000, 604_800_000, 86_400_000];
const seconds = (description: string, preset?: number) => whole(`${description}, in seconds`, year, preset);
const milliseconds = (description: string) => whole(`${description}, in milliseconds`, day);
const count = (description: string, preset?: number) => whole(description, 1000, preset);

const about = text('Its purpose');
const level = (description: string) => oneOf(description, ['error', 'warn', 'info', 'debug', 'trace', 'spam']);
const verbs = [
  'ACL',
  'BIND',
  'CHECKOUT',
  'CONNECT',
  'COPY',
  'LINK',
  'LOCK',
  'MERGE',
  'MKACTIVITY',
  'MKCALENDAR',
  'MKCOL',
  'MOVE',
  'M-SEARCH',
  'NOTIFY',
  'PROPFIND',
  'PROPPATCH',
  'PURGE',
  'REBIND',
  'REPORT',
  'SEARCH',
  'SUBSCRIBE',
  'TRACE',
  'UNBIND',
  'UNLINK',
  'UNLOCK',
  'UNSUBSCRIBE',
] as const;

const receiver = {
  description: about,
  ip: Type.String({
    description: 'IP address or FQDN of the remote alarm receiver',
    minLength: 1,
    maxLength: 253,
    pattern: '^[A-Za-z0-9._:%-]*$',
  }),
  community: Type.String({ description: 'SNMP community; a secret', maxLength: 1024 }),
  type: oneOf('Kind of notification', ['trap', 'inform']),
};
/** An alarm receiver. `properties` is another alarm receiver, up to the depth. */
const alarm = (depth: number): TObject =>
  group(
    `AlarmReceiver${depth}`,
    'Alarm receiver',
    depth > 1 ? { ...receiver, properties: alarm(depth - 1) } : receiver,
  );

const admin = Type.Union(
  [
    name('Name of a group'),
    Type.Object(
      {
        group: Type.Optional(name('Name of a group')),
        name: Type.Optional(name('The same')),
        provenance: Type.Optional(name('Provenance that the group must have')),
      },
      { additionalProperties: true, description: 'Group' },
    ),
  ],
  { title: 'AdminGroup', description: 'A group by its name, or with its provenance' },
);

/** The fields of a profile in requests. Only this place defines bounds and defaults. */
const members = {
  description: about,
  services: names('Services of the profile'),
  serviceDirectory: text('Directory of additional services'),
  uiProps: group('UiProps', 'User interface', {
    description: about,
    layout: text('Layout'),
    home: text('Home page'),
    login: text('Login page'),
    profile: text('Profile page'),
    fav_icon: text('Icon'),
  }),
  authenticationProps: group('AuthenticationProps', 'Logging in', {
    description: about,
    logoutTime: whole('Minutes of inactivity before logout', 525_600, undefined, 1),
    principalTimeout: whole('Minutes that a user principal is cached', 525_600),
    relayStateTimeout: seconds('How long an SSO login callback lasts'),
    uniqueSession: yesOrNo('Only one session per user when true'),
    admins: Type.Array(admin, {
      description: 'Members of these groups are admins; missing or empty: of the group admins',
      maxItems: 500,
    }),
    // By RFC 6265 the name of a cookie is a token of RFC 7230.
    cookieName: Type.String({
      description: 'Name of the session cookie',
      minLength: 1,
      maxLength: 64,
      pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]*$",
    }),
    brokerPrincipal: yesOrNo('The authentication adapter creates the principal when true'),
  }),
  expressProps: group('ExpressProps', 'HTTP', {
    description: about,
    cacheControl: yesOrNo('True: a Cache-Control header is sent'),
    timeout: milliseconds('How long an answer may take before it is 503; 0: as long as it takes'),
    access_control_allow_origin: Type.String({
      description: 'Origins whose pages may read answers: one, several with commas between them, or * for any',
      minLength: 1,
      maxLength: 2048,
      pattern: '^[\\u0021-\\u007e]*$',
    }),
    access_control_allow_credentials: yesOrNo('True if pages of these origins, but not of any, may send a login along'),
    express_http: open('HTTP listener'),
    express_https: open('HTTPS listener'),
    allowedHttpOptionalVerbs: Type.Array(oneOf('Verb', verbs), {
      description: 'Optional HTTP verbs that are allowed',
      maxItems: 100,
    }),
  }),
  loggerProps: group('LoggerProps', 'Logs', {
    description: about,
    log_directory: text('Folder of log files'),
    log_filename: text('Name of the log file'),
    log_max_file_size: whole('Size at which a log file is ended, in bytes', Number.MAX_SAFE_INTEGER),
    log_max_files: count('How many log files are kept'),
    log_level: level('Least level of log files'),
    console_level: level('Least level on the console'),
    log_format_json: yesOrNo('JSON instead of plain text in log files', false),
    console_format_json: yesOrNo('JSON instead of plain text on the console', false),
    webserver: open('Access log of the web server'),
    syslog: open('Syslog daemon to send to'),
  }),
  redisProps: open('Redis'),
  auditProps: group('AuditProps', 'Audit', {
    description: about,
    audit: yesOrNo('True if refused requests and exports are recorded'),
    brokerValidation: yesOrNo('True if brokers validate'),
  }),
  pathProps: group('PathProps', 'Paths', { description: about, encrypted: yesOrNo('True if core is encrypted') }),
  alarmProps: Type.Array(alarm(5), { description: 'Alarm receivers', maxItems: 100 }),
  adapterStrategy: group('AdapterStrategy', 'Southbound systems', {
    device: Type.Unsafe<{ readonly order?: readonly string[] }>(
      Type.Object(
        { order: Type.Optional(names('Adapters, the first to be asked first; others follow by name')) },
        { additionalProperties: true, description: 'Order in which southbound systems are called' },
      ),
    ),
  }),
  systemProps: group('SystemProps', 'Processes', {
    shutdownTimeout: whole('How long a service waits before it shuts down, in seconds', 3600),
    servicesBlacklist: names('Services whose CRUD access is blocked'),
    launchDelay: seconds('Delay between launches'),
    launchTimeout: seconds('How long a launch may take'),
    serviceHealthCheckInterval: seconds('Time between health updates'),
    serviceHealthCheckUnhealthyThreshold: count('Missed health checks after which a service is taken as offline'),
    deadProcessCheck: yesOrNo('True if dead processes are looked for'),
    deadProcessCheckInterval: seconds('Time between these checks'),
    deadProcessMaxPeriod: seconds('How long a process may be without a health ping'),
    externalRequestTimeout: seconds('How long an external request may take'),
    deviceCountPollingInterval: whole('Hours between counts of devices', 8760),
    serverIdStrategy: oneOf('How server ids are made', ['mac:port', 'random']),
    eventWorkerCount: count('Event workers', 3),
    transformationWorkerCount: count('Transformation workers', 3),
    taskWorkerThreadCount: whole('Threads of task workers', 4, 1),
    taskWorkerRateLimit: whole('Tasks per period; 0: no limit', 1_000_000, 0),
    taskWorkerRateLimitPeriod: seconds('Period of that limit', 1),
  }),
  integrationProps: group('IntegrationProps', 'Integrations', {
    threadCount: count('Threads for API requests'),
    timeout: milliseconds('How long an integration request may take'),
  }),
  retryStrategy: group('RetryStrategy', 'Restarts', {
    maxRetries: count('Restarts after a crash before stopping'),
    retryResetTimer: whole('Milliseconds before the retry count resets', week),
  }),
};

const content = Type.Partial(Type.Object(members));
const id = name('Id');

/** The stored content of a profile, without defaults. */
export type ProfileContent = SchemaData<typeof content>;

/** A profile in answers: with defaults, secrets as `********`. */
export const profileSchema = Type.Object(
  { id, ...content.properties, prebuiltProps: open('Settings that prebuilts bring along') },
  {
    additionalProperties: false,
    title: 'Profile',
    description: 'Settings of the service; secrets are shown as ********',
  },
);

/** The schema of a merge patch. In objects with known members, each member may be `null`, which removes it. */
const patchOf = (
  schema: TSchema & { readonly properties?: Readonly<Record<string, TSchema & { description?: string }>> },
): TSchema => {
  if (!schema.properties || (schema as { additionalProperties?: boolean }).additionalProperties !== false)
    return schema;
  const {
    required: _,
    title,
    ...rest
  } = schema as TSchema & { readonly required?: readonly string[]; readonly title?: string };
  return {
    ...rest,
    ...defined({ title: title === undefined ? undefined : `${title}Patch` }),
    properties: Object.fromEntries(
      Object.entries(schema.properties).map(([member, value]) => [
        member,
        Type.Union([patchOf(value), Type.Null()], { description: value.description ?? member }),
      ]),
    ),
  } as TSchema;
};

const patch = patchOf(Type.Object(members, { additionalProperties: false })) as TSchema & {
  readonly properties: TProperties;
};

/** The merge patch of `updateProfile`. If it has an `id`, that must be the one in the path. */
export const profilePatchSchema = Type.Unsafe<{ readonly id?: string; readonly [member: string]: unknown }>({
  ...patch,
  properties: { id, ...patch.properties },
  title: 'ProfilePatch',
  description:
    'Merged into the profile: objects member by member, null removes, a list or scalar replaces; ******** keeps a secret',
});

/** A new profile: a merge patch with a required `id`. */
export const newProfileSchema = Type.Unsafe<{ readonly id: string; readonly [member: string]: unknown }>({
  ...profilePatchSchema,
  required: ['id'],
  title: 'NewProfile',
  description: 'New profile',
});

/** The documented defaults, by group. */
export const profileDefaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = Object.fromEntries(
  Object.entries(
    members as Readonly<Record<string, { readonly properties?: Readonly<Record<string, object>> }>>,
  ).flatMap(([group, { properties = {} }]) => {
    const presets = Object.entries(properties).flatMap(([member, schema]) =>
      'default' in schema ? [[member, schema.default] as const] : [],
    );
    return presets.length > 0 ? [[group, Object.fromEntries(presets)]] : [];
  }),
);
