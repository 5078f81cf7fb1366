import { isObject, type Members } from '@automation-platform/json';
import { Type } from 'typebox';
import { name } from '../../domain/engine/schemas.ts';
import { validator } from '../engine/body.ts';
import type { ActionRoute } from '../engine/route.ts';
import { commandTemplateRoutes } from '../mop/commandTemplates.ts';
import { profileRoutes } from '../profiles/profiles.ts';
import { templateRoutes } from '../template-builder/templates.ts';
import { bodyOf, leadingTo, rowNamed } from './leading.ts';

const rendering = rowNamed(templateRoutes, 'renderJinja2TemplateWithCast');

/** `/configuration_manager`: a template of the request. */
export const renderingRows: readonly ActionRoute[] = [
  leadingTo(rendering, {
    method: 'post',
    path: '/jinja2',
    description: 'The template may include, import and extend stored templates by name.',
    body: Type.Object(
      {
        template: Type.String({ description: 'Text of a Jinja2 template' }),
        variables: Type.Optional(
          Type.Object({}, { additionalProperties: true, description: 'Variables of the template by name' }),
        ),
        options: Type.Optional(
          Type.Union([Type.Null(), Type.Object({}, { additionalProperties: false })], {
            description: 'Empty: there are no options',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    ask: ({ body }) => {
      const { options: _, ...asked } = body as Members;
      return { params: { name: '' }, body: asked };
    },
    tell: ({ renderedTemplate }) => renderedTemplate,
    answer: Type.String({ description: 'The rendered text' }),
  }),
];

const change = rowNamed(commandTemplateRoutes, 'updateTemplate');
const count = (description: string) => Type.Integer({ description });

/** `/mop`. */
export const commandTemplateRows: readonly ActionRoute[] = [
  leadingTo(change, {
    method: 'put',
    path: '/updateTemplate/:namePath',
    body: bodyOf(change),
    ask: ({ params }) => ({ params: { id: params.namePath ?? '' } }),
    tell: () => ({ acknowledged: true, modifiedCount: 1, matchedCount: 1, upsertedCount: 0, upsertedId: null }),
    answer: Type.Object({
      acknowledged: Type.Literal(true),
      matchedCount: count('1: the template'),
      modifiedCount: count('1, also where the template was like that before'),
      upsertedCount: count('0: none is made'),
      upsertedId: Type.Null(),
    }),
  }),
];

/** Members of profiles of other platforms that mean nothing here; `*` is each of a list. */
const leftOut = [
  '_id',
  'applicationProps',
  'launchDelay',
  'launchTimeout',
  'prebuiltProps',
  'authenticationProps/sso',
  'pathProps/sdk_dir',
  ...['user_config', 'group_config', 'new_user', 'edit_user', 'new_group', 'apple_touch_icon'].map(
    (of) => `uiProps/${of}`,
  ),
  ...['retries', 'timeout', 'transport', 'trapPort', 'version'].map((of) => `alarmProps/*/properties/${of}`),
].map((path) => path.split('/'));

/** The value without what is at a path. */
const without = (value: unknown, [member = '', ...deeper]: readonly string[]): unknown => {
  if (Array.isArray(value)) return member === '*' ? value.map((one) => without(one, deeper)) : value;
  if (!isObject(value) || !Object.hasOwn(value, member)) return value;
  const { [member]: inner, ...rest } = value;
  return deeper.length === 0 ? rest : { ...value, [member]: without(inner, deeper) };
};

const profileCreation = rowNamed(profileRoutes.routes, 'createProfile');
const checkProfile = validator(bodyOf(profileCreation));

/** `/profiles`. */
export const profileRows: readonly ActionRoute[] = [
  leadingTo(profileCreation, {
    method: 'post',
    path: '/import',
    description: `Members that mean nothing here are not kept: ${leftOut.map((path) => path.join('.')).join(', ')}.`,
    body: Type.Object(
      {
        properties: Type.Object(
          { id: name('Id') },
          { additionalProperties: true, description: 'A profile, as another service has it' },
        ),
      },
      { additionalProperties: false },
    ),
    ask: ({ body }) => {
      const properties = leftOut.reduce(without, (body as Members).properties);
      checkProfile({ properties });
      return { body: { properties } };
    },
    tell: (ours) => ours,
    answer: profileCreation.answer,
  }),
];
