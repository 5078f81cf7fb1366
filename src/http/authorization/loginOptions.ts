import { Type } from 'typebox';
import { defined } from '../../domain/engine/defined.ts';
import { providers } from '../../projections/authorization/providers.ts';
import { activeProfiles, profiles } from '../../projections/profiles/profiles.ts';
import { actionRoute } from '../engine/routes.ts';

const text = (description: string) => Type.Optional(Type.String({ description }));

/** Facts that a page needs before anybody is logged in. */
export const getLoginOptions = actionRoute({
  name: 'getLoginOptions',
  method: 'get',
  path: '/login/options',
  access: 'open',
  summary: 'Ways to log in, and how pages look',
  description:
    'For pages that ask people to log in, so everybody may call it. People of directories log in with name and password, as ' +
    'those of this service do: providers are those of single sign-on. ui is from uiProps of the active profile.',
  answer: Type.Object({
    providers: Type.Array(
      Type.Object({
        name: Type.String(),
        path: Type.String({ description: 'Where the browser goes to log in, below this service' }),
      }),
    ),
    ui: Type.Object({
      home: text('View that opens first'),
      layout: text('Layout'),
      login: text('Words above the login'),
      fav_icon: text('Icon'),
    }),
  }),
  run: async (_, { tools }) => {
    const [active] = await tools.all(activeProfiles);
    const profile = (await tools.all(profiles)).find(({ id }) => id === active?.id);
    const { home, layout, login, fav_icon } = profile?.uiProps ?? {};
    return {
      body: {
        providers: (await tools.all(providers))
          .filter(({ type, enabled }) => type === 'oidc' && enabled)
          .toSorted((a, b) => a.order - b.order)
          .map(({ name }) => ({ name, path: `/authorization/oidc/${encodeURIComponent(name)}/login` })),
        ui: defined({ home, layout, login, fav_icon }),
      },
    };
  },
});
