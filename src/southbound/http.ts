import type { HttpProperties } from '../domain/configuration-manager/adapterSchemas.ts';
import { adapterFailure, reasonOf, redacted } from './failure.ts';
import { httpCall } from './httpCall.ts';
import type { Outbound } from './outbound.ts';
import type { AdapterAnswer, Device, DeviceAdapter } from './port.ts';

const maxBytes = 4 * 1024 * 1024;

/**
 * A southbound controller (docs/southbound.md): `POST {base}/devices/{name}/configuration {config, options}`, `GET` of
 * the same `{config}` and `POST {base}/devices/{name}/commands {command}` `{output}`; plain texts will do for both.
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
    // URLs resolve these names, escaped or not, so the call would go elsewhere.
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
      const shown = status >= 200 && status < 300 ? text : redacted(text, secrets);
      return { status, text: asJson(shown, type) };
    } catch (error) {
      throw adapterFailure(name, reasonOf(signal.aborted ? signal.reason : error));
    }
  };

  /** The member of an answer that is an object, or the answer that is a text. */
  const text = async (answering: Promise<AdapterAnswer>, member: string): Promise<string> => {
    const { status, text } = await answering;
    const body = JSON.parse(text);
    if (status < 200 || status > 299) throw adapterFailure(name, `the answer has status ${status}`, { status, body });
    const found: unknown =
      typeof body === 'object' && body !== null && Object.hasOwn(body, member) ? body[member] : body;
    if (typeof found !== 'string') throw adapterFailure(name, `the answer has no ${member}`, { status, body });
    return found;
  };

  return {
    apply: (device, config, options, signal) =>
      call(device, { method: 'POST', path: 'configuration', body: { config, options } }, signal),
    configuration: (device, signal) => text(call(device, { method: 'GET', path: 'configuration' }, signal), 'config'),
    run: (device, command, signal) =>
      text(call(device, { method: 'POST', path: 'commands', body: { command } }, signal), 'output'),
  };
};

/** JSON as it is, if it can be written again as well as read; anything else as a JSON string. */
const asJson = (text: string, type: string): string => {
  if (type === 'application/json' || type.endsWith('+json')) {
    try {
      JSON.stringify(JSON.parse(text));
      return text;
    } catch {
      /* not JSON, whatever its type says, or nested too deeply */
    }
  }
  return JSON.stringify(text);
};
