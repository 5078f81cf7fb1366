import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import Provider, { type Configuration } from 'oidc-provider';
import { freePort } from './freePort.ts';

/** A person of the issuer, with the claims that it says of them. */
export type Claims = Readonly<Record<string, unknown>>;

type Options = {
  /** Where the service is that uses the issuer. */
  readonly service: string;
  /** The name of its provider. */
  readonly name: string;
  readonly people: Readonly<Record<string, Claims>>;
  /** Further names under which the service uses it. */
  readonly names?: readonly string[];
};

export const client = { id: 'platform', secret: 'a secret of the platform' };
/** Pipelines: clients with a secret of their own. */
export const pipelineSecret = 'a secret of a pipeline';
/** The audience of access tokens. */
export const audience = 'urn:platform';

/** The claims of a logout token for a person. */
export const logoutClaims = (sub: string): Claims => ({
  aud: client.id,
  sub,
  events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  jti: '1',
});

/** Answers a request to the issuer before it does; true: it has. */
type Before = (req: IncomingMessage, res: ServerResponse) => boolean;

const makeKey = async (kid: string) => {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const more = { kid, use: 'sig', alg: 'RS256' };
  return { kid, privateKey, publicKey, jwk: { ...(await exportJWK(privateKey)), ...more } };
};

/** A real issuer of OpenID Connect in this process. It lets in whom `people` names, without a question. */
export const startIssuer = async ({ service, name, people, names = [] }: Options) => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const redirectUriFor = (of: string): string => `${service}/authorization/oidc/${of}/callback`;
  const redirectUri = redirectUriFor(name);
  const claimsOf: Record<string, Claims> = { ...people };
  let key = await makeKey('key 1');
  let next = '';

  const configuration = (): Configuration => ({
    jwks: { keys: [key.jwk] } as NonNullable<Configuration['jwks']>,
    cookies: { keys: ['a key of cookies'] },
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [name, ...names].map(redirectUriFor),
        grant_types: ['authorization_code'],
        backchannel_logout_uri: `${service}/authorization/oidc/${name}/backchannel-logout`,
      },
      ...['nightly', 'backup'].map((id) => ({
        client_id: id,
        client_secret: pipelineSecret,
        redirect_uris: [],
        response_types: [],
        grant_types: ['client_credentials'],
      })),
    ],
    claims: { openid: ['sub'], profile: ['preferred_username', 'given_name', 'groups'], email: ['email'] },
    scopes: ['openid', 'profile', 'email'],
    findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ sub, ...claimsOf[sub] }) }),
    extraTokenClaims: (_, token) => {
      const id = 'accountId' in token ? token.accountId : token.clientId;
      const { groups } = claimsOf[String(id)] ?? {};
      return groups === undefined ? undefined : { groups };
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      backchannelLogout: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: (ctx) => (ctx.oidc.params?.['grant_type'] === 'client_credentials' ? audience : []),
        getResourceServerInfo: () => ({ scope: '', audience, accessTokenFormat: 'jwt', accessTokenTTL: 600 }),
      },
    },
    // By its own dispatcher it would not call this machine.
    fetch: (url, options) =>
      fetch(url, Object.fromEntries(Object.entries(options ?? {}).filter(([member]) => member !== 'dispatcher'))),
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({
        clientId: ctx.oidc.client!.clientId,
        accountId: ctx.oidc.session!.accountId!,
      });
      grant.addOIDCScope('openid profile email');
      await grant.save();
      return grant;
    },
    ttl: { AccessToken: 600, IdToken: 600, Session: 600, Interaction: 600, Grant: 600, AuthorizationCode: 60 },
  });

  let skewSeconds = 0;
  const seconds = () => Math.floor(Date.now() / 1000) + skewSeconds;

  /** An ID token as an issuer would make it whose clock is wrong. */
  const shifted = (token: string): Promise<string> => {
    const { iat = 0, exp = 0, ...claims } = decodeJwt(token);
    return sign({ ...claims, iat: iat + skewSeconds, exp: exp + skewSeconds }, key);
  };
  const open = () => {
    const made = new Provider(url, configuration());
    made.use(async (ctx, next) => {
      await next();
      if (skewSeconds !== 0 && ctx.path === '/token' && ctx.status === 200)
        ctx.body.id_token = await shifted(ctx.body.id_token);
    });
    return made;
  };
  let provider = open();
  let before: Before | undefined;
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    if (before?.(req, res)) return;
    if (req.url?.startsWith('/interaction/'))
      return provider.interactionFinished(req, res, { login: { accountId: next } });
    return provider.callback()(req, res) as Promise<void>;
  };
  const server = createServer((req, res) => void answer(req, res).catch((error) => res.destroy(error)));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  const sign = (claims: Claims, { kid, privateKey } = key): Promise<string> => {
    const now = seconds();
    return new SignJWT({ iss: url, aud: audience, iat: now, exp: now + 600, ...claims })
      .setProtectedHeader({ alg: 'RS256', kid, typ: 'at+jwt' })
      .sign(privateKey);
  };

  return {
    url,
    redirectUri,
    redirectUriFor,
    properties: { issuer: url, clientId: client.id, clientSecret: client.secret, redirectUri, groupsClaim: 'groups' },
    key: () => key,
    makeKey,
    /** A token with these claims, as the issuer would sign it, or another. */
    sign,
    /** Whoever comes next is this person. */
    letIn: (sub: string): void => {
      next = sub;
    },
    /** The claims of a person from now on. */
    say: (sub: string, claims: Claims): void => {
      claimsOf[sub] = claims;
    },
    /** Its clock is wrong by this from now on, in seconds. */
    skewClock: (by: number): void => {
      skewSeconds = by;
    },
    /** From now on this is asked first; undefined: nothing. */
    answerBefore: (answer: Before | undefined): void => {
      before = answer;
    },
    /** It signs with another key from now on. */
    changeKey: async (): Promise<void> => {
      key = await makeKey(`${key.kid}+`);
      provider = open();
    },
    /** An access token that a pipeline asks for with its own name. */
    pipelineToken: async (id = 'nightly'): Promise<string> => {
      const response = await fetch(`${url}/token`, {
        method: 'POST',
        headers: { Authorization: `Basic ${btoa(`${id}:${encodeURIComponent(pipelineSecret)}`)}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      });
      return ((await response.json()) as { access_token: string }).access_token;
    },
    stop: async (): Promise<void> => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

export type Issuer = Awaited<ReturnType<typeof startIssuer>>;

/** A browser: it keeps cookies by host, and goes where it is led. */
export const browser = () => {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: string): Map<string, string> => {
    const { host } = new URL(url);
    const jar = jars.get(host) ?? new Map<string, string>();
    jars.set(host, jar);
    return jar;
  };

  const get = async (url: string) => {
    const jar = jarOf(url);
    const Cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { headers: { Cookie }, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...rest] = line.split(';');
      const at = pair.indexOf('=');
      const isEnd = rest.some((part) => /^ *(max-age=0|expires=thu, 01 jan 1970)/i.test(part));
      if (isEnd) jar.delete(pair.slice(0, at));
      else jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const location = response.headers.get('location');
    return {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      location: location === null ? undefined : new URL(location, url).href,
    };
  };

  return {
    get,
    jarOf,
    /** Follows redirects until the answer is none, or leads to an address that begins so. */
    follow: async (url: string, until?: string) => {
      let at = url;
      for (;;) {
        if (until !== undefined && at.startsWith(until)) return { ...emptyAnswer, url: at };
        const answer = await get(at);
        if (answer.location === undefined) return { ...answer, url: at };
        at = answer.location;
      }
    },
  };
};

const emptyAnswer = { status: 0, headers: new Headers(), text: '', location: undefined };
