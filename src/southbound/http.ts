import { isObject, redacted } from '@automation-platform/json';
import type { HttpProperties } from '../domain/configuration-manager/adapterSchemas.ts';
import { adapterFailure, reasonOf } from './failure.ts';
import { httpCall } from './httpCall.ts';
import type { Outbound } from './outbound.ts';
import type { AdapterAnswer, Device, DeviceAdapter } from './port.ts';

const maxBytes = 4 * 1024 * 1024;

/**
 * A southbound controller over HTTP (docs/southbound.md). `POST {base}/devices/{name}/configuration` with `{config,
 * options}` applies a configuration. `GET` of the same path returns `{config}`. `POST {base}/devices/{name}/commands`
 * with `{command}` returns `{output}`. Instead of the last two objects, a text will do.
 */
export const httpAdapter = (
  name: string,
  properties: HttpProperties,
  guard: Outbound,
  traceparent?: string,
): DeviceAdapter => {
  const { baseUrl, auth, token, username, password } = properties;
  const basic = username === undefined ? undefined : Buffer.from(`${username}:${password}`).toString('base64');
  const authorization = auth ?? (token === undefined ? basic && `Basic ${basic}` : `Bearer ${token}`);
  const secrets = [auth, token, password, basic].filter((secret) => secret !== undefined);

  type Request = { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: unknown };

  const call = async (device: Device, { method, path, body }: Request, signal: AbortSignal): Promise<AdapterAnswer> => {
    // A URL resolves these names as path segments, escaped or not, so the call would go elsewhere.
    if (device.name === '.' || device.name === '..')
      throw adapterFailure(name, 'a device of this name cannot be in a URL');
    const url = `${baseUrl.replace(/\/+$/, '')}/devices/${encodeURIComponent(device.name)}/${path}`;
    try {
      const { status, type, text } = await httpCall(guard, {
        method,
        url,
        traceparent,
        signal,
        maxBytes,
        body,
        headers: authorization ? { Authorization: authorization } : {},
      });
      const bodyText = status >= 200 && status < 300 ? text : redacted(text, secrets);
      return { status, text: asJson(bodyText, type) };
    } catch (error) {
      throw adapterFailure(name, reasonOf(signal.aborted ? signal.reason : error));
    }
  };

  /** The text in an answer: a member of the object, or the whole answer if it is a text. */
  const textOf = async (device: Device, request: Request, member: string, signal: AbortSignal): Promise<string> => {
    const { status, text } = await call(device, request, signal);
    const body: unknown = JSON.parse(text);
    if (status < 200 || status > 299) throw adapterFailure(name, `the answer has status ${status}`, { status, body });
    if (isObject(body) && typeof body.device === 'string' && body.device !== device.name)
      throw adapterFailure(name, `the answer is of the device ${JSON.stringify(body.device)}`);
    const found: unknown = isObject(body) && Object.hasOwn(body, member) ? body[member] : body;
    if (typeof found !== 'string') throw adapterFailure(name, `the answer has no ${member}`, { status, body });
    return found;
  };

  const configuration: DeviceAdapter['configuration'] = (device, signal) =>
    textOf(device, { method: 'GET', path: 'configuration' }, 'config', signal);

  return {
    apply: (device, config, options, signal) =>
      call(device, { method: 'POST', path: 'configuration', body: { config, options } }, signal),
    configuration,
    // A controller has no smaller call.
    reach: async (device, signal) => void (await configuration(device, signal)),
    run: (device, command, signal) =>
      textOf(device, { method: 'POST', path: 'commands', body: { command } }, 'output', signal),
  };
};

/**
 * The body as JSON text. JSON stays unchanged if JavaScript can both read and write it. Other bodies become a JSON
 * string.
 */
const asJson = (text: string, type: string): string => {
  if (type === 'application/json' || type.endsWith('+json')) {
    try {
      JSON.stringify(JSON.parse(text));
      return text;
    } catch {
      /* The body is not JSON, although its type says so, or it is nested too deeply. */
    }
  }
  return JSON.stringify(text);
};
