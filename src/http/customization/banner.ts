import { Type } from 'typebox';
import { setBanner } from '../../commands/customization/banner.ts';
import { bannerId, bannerSchema, unset } from '../../domain/customization/banner.ts';
import { banners } from '../../projections/customization/banner.ts';
import type { AreaRoutes, Envelope } from '../engine/route.ts';
import { commandRoute, getRoute } from '../engine/routes.ts';

const path = '/banner';
const key = () => bannerId;
const envelope: Envelope = (text) => `{"result":${text}}`;
const answer = Type.Object({ result: bannerSchema });

/** The banner: `getBanner` and `setBanner`. */
export const bannerRoutes: AreaRoutes = {
  area: 'customization',
  prefix: '/customization',
  routes: [
    getRoute({
      name: 'getBanner',
      path,
      access: 'login',
      summary: 'Get the banner',
      get: banners,
      key,
      otherwise: unset,
      envelope,
      answer,
    }),
    commandRoute({
      name: 'setBanner',
      method: 'put',
      path,
      access: ['operators'],
      summary: 'Set the banner',
      description:
        'The whole of it: what is not given is removed. The service itself says _id and messageLastUpdated, ' +
        'whatever the body says of them.',
      command: setBanner,
      key,
      envelope,
      answer,
    }),
  ],
};
