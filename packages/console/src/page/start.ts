import { render } from 'preact';
import { App } from './app.ts';
import { html } from './html.ts';
import { startLive } from './live.ts';
import { loadLook } from './look.ts';
import { whoAmI } from './platform.ts';

render(html`<${App} />`, document.body);
startLive();
await Promise.all([loadLook(), whoAmI()]);
