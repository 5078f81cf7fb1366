import type { Operations } from '@automation-platform/client';
import { signal } from '@preact/signals';
import { call } from './platform.ts';

type Options = Operations['service.getLoginOptions']['answer'];

/** The ways to log in beside a password, and how the page looks; undefined until they are known. */
export const loginOptions = signal<Options | undefined>(undefined);

/** A profile that came from elsewhere names files there. They mean nothing here. */
const isFile = (text: string): boolean => /^\S*\.\w{2,5}$/.test(text) && !text.startsWith('data:');

const apply = ({ ui }: Options): void => {
  const { home = '', layout = '', fav_icon: icon = '' } = ui;
  if (/^#?\/?$/.test(location.hash) && home !== '' && !isFile(home))
    location.replace(`#/${home.replace(/^[#/]+/, '')}`);
  if (layout === 'narrow') document.body.classList.add('narrow');
  if (/^data:image\/(png|svg\+xml|x-icon|vnd\.microsoft\.icon|gif|jpeg|webp)[;,]/.test(icon))
    document.querySelector<HTMLLinkElement>('link[rel=icon]')?.setAttribute('href', icon);
};

/** The words above the fields of the login; '' for none. */
export const loginWords = (): string => {
  const { login = '' } = loginOptions.value?.ui ?? {};
  return isFile(login) ? '' : login;
};

export const loadLook = async (): Promise<void> => {
  const answer = await call('service.getLoginOptions').catch(() => undefined);
  if (!answer) return;
  loginOptions.value = answer.body;
  apply(answer.body);
};
