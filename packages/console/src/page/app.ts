import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { AsOf } from './asOf.ts';
import { html } from './html.ts';
import { isOfPeople, liveness, missed } from './live.ts';
import { useLoaded } from './loading.ts';
import { linkTo, place } from './location.ts';
import { LogIn } from './logIn.ts';
import { Notice } from './notice.ts';
import { Now } from './now.ts';
import { Failure, Loading, Message } from './parts.ts';
import { askForRights, caller, hasEnded, isReachable, logOut, slowCalls } from './platform.ts';

type View = { readonly title: string; readonly load: () => Promise<ComponentType> };

/** The views by the first part of their path. Now is mostly the first one, so it comes with the frame. */
const views: Readonly<Record<string, View>> = {
  now: { title: 'Now', load: async () => Now },
  run: { title: 'Run', load: async () => (await import('./run.ts')).Run },
  jobs: { title: 'Jobs', load: async () => (await import('./jobs.ts')).Jobs },
  devices: { title: 'Devices', load: async () => (await import('./devices.ts')).Devices },
  compliance: { title: 'Compliance', load: async () => (await import('./compliance.ts')).Compliance },
  automations: { title: 'Automations', load: async () => (await import('./automations.ts')).Automations },
  triggers: { title: 'Triggers', load: async () => (await import('./triggers.ts')).Triggers },
  time: { title: 'Time', load: async () => (await import('./time.ts')).Time },
  people: { title: 'People', load: async () => (await import('./people.ts')).People },
};

const nameOfView = (): string => {
  const [name = 'now'] = place.value.path;
  return Object.hasOwn(views, name) ? name : '';
};

/** The views whose files are there, by their names. */
const loadedViews = signal<Readonly<Record<string, ComponentType>>>({ now: Now });

const loadView = async (name: string): Promise<void> => {
  const view = await views[name]?.load();
  if (view) loadedViews.value = { ...loadedViews.peek(), [name]: view };
};

// The view comes while the platform says who is logged in. A failure is shown when the view is opened.
loadView(nameOfView()).catch(() => undefined);

const liveWords = {
  off: '',
  connecting: 'Connecting',
  live: 'Live',
  refused: 'Not live: your roles do not allow events',
} as const;

const Connection = () => {
  const now = slowCalls.value > 0 ? 'The platform takes long to answer' : liveWords[liveness.value];
  const words = isReachable.value ? now : 'The platform does not answer. The page goes on when it is back.';
  const count = missed.value === 1 ? '1 event' : `${missed.value} events`;
  const more = missed.value > 0 ? `, ${count} came while it was away` : '';
  return html`<span role="status" class="connection ${isReachable.value ? liveness.value : 'away'}">${words}${more}</span>`;
};

const Head = () => html`
  <header class="top">
    <a class="skip" href="#main" onClick=${skipToMain}>Skip to the content</a>
    <span class="product">Automation Platform</span>
    <${Connection} />
    ${caller.value && html`<${AsOf} />`}
    ${caller.value && html`<span class="who">${caller.value.username}</span><button type="button" onClick=${logOut}>Log out</button>`}
  </header>
`;

const skipToMain = (event: Event): void => {
  event.preventDefault();
  document.querySelector<HTMLElement>('main')?.focus();
};

const Navigation = () => {
  const now = nameOfView();
  // The page follows the rights, which may change at any time.
  useLoaded(askForRights, [], { when: isOfPeople, every: 10_000, isKnown: true });
  return html`<nav aria-label="Views">
    <ul>
      ${Object.entries(views).map(
        ([name, { title }]) =>
          html`<li key=${name}><a href=${linkTo([name])} aria-current=${name === now ? 'page' : undefined}>${title}</a></li>`,
      )}
    </ul>
  </nav>`;
};

const Content = () => {
  const name = nameOfView();
  const view = views[name];
  const [failed, setFailed] = useState('');
  useEffect(() => {
    document.title = view ? `${view.title} - Automation Platform` : 'Automation Platform';
    setFailed('');
    loadView(name).catch(() => setFailed(name));
  }, [name]);
  if (!view)
    return html`<h1>No such view</h1><p class="empty">The address names no view of the console. <a href=${linkTo(['now'])}>Go to Now</a></p>`;
  const View = loadedViews.value[name];
  return html`<h1>${view.title}</h1>
    ${failed === name && html`<${Failure}>The view could not be loaded. A newer version may be there: load the page again.</${Failure}>`}
    ${View ? html`<${View} key=${place.value.path.join('/')} />` : failed !== name && html`<${Loading} />`}`;
};

/** The whole page. */
export const App = () => {
  const who = caller.value;
  const away = !isReachable.value;
  if (who === undefined) return html`<${Head} /><main id="main">${away ? '' : html`<${Loading} />`}</main>`;
  if (who === null) return html`<${Head} /><main id="main" class="alone"><${LogIn} /></main>`;
  return html`<${Head} />
    <div class="frame">
      <${Navigation} />
      <main id="main" tabindex="-1">
        <${Notice} />
        ${hasEnded.value && html`<${LogIn} isAgain=${true} />`}
        <${Content} />
      </main>
    </div>
    <${Message} />`;
};
