import { useState } from 'preact/hooks';
import { html } from './html.ts';
import { loginOptions, loginWords } from './look.ts';
import { Failure } from './parts.ts';
import { caller, logIn, url } from './platform.ts';

/** The ways of single sign-on. They come back to this address. */
const Others = () => {
  const { providers = [] } = loginOptions.value ?? {};
  const returnTo = encodeURIComponent(location.pathname + location.hash);
  return providers.map(
    ({ name, path }) =>
      html`<a key=${name} class="button" href=${`${url}${path}?returnTo=${returnTo}`}>Log in with ${name}</a>`,
  );
};

/** The fields to log in. `isAgain`: the login ended while the page was open, and all that it shows is still there. */
export const LogIn = ({ isAgain = false }: { readonly isAgain?: boolean }) => {
  const [username, setUsername] = useState(isAgain ? (caller.value?.username ?? '') : '');
  const [password, setPassword] = useState('');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await logIn(username, password);
    } catch (fault) {
      setError(fault);
    } finally {
      setBusy(false);
    }
  };
  const bind = (set: (text: string) => void) => (event: { readonly currentTarget: HTMLInputElement }) =>
    set(event.currentTarget.value);
  return html`<form class="login" onSubmit=${submit} aria-label="Log in">
    ${isAgain ? html`<div role="alert" class="failure">Your login has ended. Log in again: nothing that you typed is lost.</div>` : html`<h1>Log in</h1>`}
    ${loginWords() !== '' && html`<p class="words">${loginWords()}</p>`}
    <label>Username<input name="username" autocomplete="username" required value=${username} onInput=${bind(setUsername)} autofocus=${!isAgain} /></label>
    <label>Password<input name="password" type="password" autocomplete="current-password" required value=${password} onInput=${bind(setPassword)} /></label>
    <${Failure} error=${error} />
    <button class="main" disabled=${isBusy}>Log in</button>
    <${Others} />
  </form>`;
};
