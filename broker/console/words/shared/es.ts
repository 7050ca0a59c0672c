// Shared by the first load and several screens, in Spanish: names of the pages, deliveries, the way to a cut.
import { formatNumber } from '../base/format.ts';
import type { SharedTexts } from './en.ts';

const n = (value: number): string => formatNumber(value, 'es');

export const sharedTexts: SharedTexts = {
  pages: {
    inbox: {
      title: 'Bandeja',
      go: 'Ir a la bandeja de entrada',
      count: (count, hasMore) => `, ${n(count)}${hasMore ? ' o más' : ''} sin ver`,
    },
    zones: { title: 'Zonas', go: 'Ir a las zonas' },
    routes: { title: 'Rutas', go: 'Ir a las rutas' },
    reports: { title: 'Informes', go: 'Ir a los informes' },
    devices: { title: 'Dispositivos', go: 'Ir a los dispositivos' },
    settings: { title: 'Ajustes', go: 'Ir a los ajustes de todos los vehículos' },
    people: { title: 'Personas', go: 'Ir a las personas' },
    rules: { title: 'Reglas y envíos', short: 'Reglas', go: 'Ir a las reglas' },
    releases: { title: 'Versiones del programa', short: 'Versiones', go: 'Ir a las versiones del programa' },
    audit: { title: 'Auditoría', go: 'Ir al registro de auditoría' },
    shares: { title: 'Compartidos', go: 'Ir a los compartidos' },
    practice: { title: 'Flota de práctica', short: 'Práctica', go: 'Ir a la flota de práctica' },
    wallboard: { go: 'Abrir el panel de pared' },
    account: { title: 'Cuenta y preferencias', go: 'Ir a la cuenta y las preferencias' },
    approvals: {
      title: 'Aprobaciones',
      go: 'Ir a las aprobaciones',
      count: (count) => `, ${count} le esperan`,
      announce: (vehicle, user) => `${user} pide un corte de ${vehicle}`,
    },
  },
  deliveries: {
    title: 'Envíos',
    none: 'No consta ningún envío por correo, push o webhook. Se guardan 30 días',
    viewer: 'Los destinatarios solo los ven operadores y administradores',
    channels: { webhook: 'Webhook', email: 'Correo', push: 'Push' },
    states: { sent: 'entregado', pending: 'espera', dead: 'abandonado' },
    after: (span) => `tras ${span}`,
  },
  relays: {
    enginecutoff: {
      name: 'Corte de motor',
      states: { 0: 'Sin cortar', 1: 'Cortado' },
      safe: 'Restablecer motor',
      safeFailed: 'Restablecimiento no pedido',
      open: 'Cortar el motor…',
      watch: 'Seguir el corte',
      off: 'El corte está desactivado: la consola no tiene pruebas en directo',
      title: (vehicle) => `Cortar el motor · ${vehicle}`,
    },
    cargoaccess: {
      name: 'Cierre de la carga',
      states: { 0: 'Bloqueado', 1: 'Desbloqueado' },
      safe: 'Bloquear la carga',
      safeFailed: 'Bloqueo no pedido',
      open: 'Desbloquear la carga…',
      watch: 'Seguir el desbloqueo',
      off: 'El desbloqueo está desactivado: la consola no tiene pruebas en directo',
      title: (vehicle) => `Desbloquear la carga · ${vehicle}`,
    },
  },
  keys: {
    restore: 'Ir al restablecimiento del vehículo abierto',
    middle: 'En el mapa: abrir lo que está en su centro',
  },
};
