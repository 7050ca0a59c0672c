// Varias alarmas y varios vehículos a la vez, en español.
import { counterOf, formatNumber } from '../base/format.ts';
import type { ManyTexts } from './en.ts';

const n = (value: number): string => formatNumber(value, 'es');
const many = counterOf('es');
const alarms = (count: number): string => many(count, 'alarma', 'alarmas');
const engines = (count: number): string => many(count, 'motor', 'motores');
const vehicles = (count: number): string => many(count, 'vehículo', 'vehículos');

export const manyTexts: ManyTexts = {
  many: {
    pick: (alarm, vehicle) => `Elegir ${alarm} de ${vehicle}`,
    picked: (count, most) => `${n(count)} de ${n(most)} como máximo elegidas`,
    all: 'Elegir todas las mostradas',
    none: 'No elegir ninguna',
    dismiss: 'Cerrar los resultados',
    results: 'Resultados',
    alarms: {
      take: (count) => `Tomar ${alarms(count)}`,
      assignTitle: (count) => `Asignar ${alarms(count)}`,
      assignText:
        'Desde entonces las tiene el usuario. Se asignan las nuevas y las suyas; un administrador asigna cualquiera ya tomada',
      assignAction: (count, user) => `Asignar ${alarms(count)} a ${user}`,
      user: 'Usuario',
      userHint: 'Un operador o administrador que vea los vehículos',
      chooseUser: 'Elija un usuario',
      close: (count) => `Cerrar ${alarms(count)}`,
      done: {
        take: (count) => many(count, 'alarma tomada', 'alarmas tomadas'),
        assign: (count) => many(count, 'alarma asignada', 'alarmas asignadas'),
        close: (count) => many(count, 'alarma cerrada', 'alarmas cerradas'),
      },
      failed: (count) => many(count, 'alarma sin cambiar', 'alarmas sin cambiar'),
    },
    commands: {
      restore: (count) => `Restaurar ${engines(count)}`,
      lock: (count) => `Cerrar la carga de ${vehicles(count)}`,
      cut: (count) => `Cortar ${engines(count)}`,
      done: {
        restore: (count) => `Restauración pedida a ${vehicles(count)}`,
        lock: (count) => `Cierre pedido a ${vehicles(count)}`,
        cut: (count) => `Corte pedido a ${vehicles(count)}`,
      },
      failed: (count) => many(count, 'vehículo sin orden', 'vehículos sin orden'),
      follow: 'Seguir',
      evidence: (vehicle) => `Lo que juzgó ${vehicle}`,
      meant: (vehicle) => `Se trata de ${vehicle}`,
      meantMissing: 'Marque cada vehículo que quiere decir y quite los demás',
      takeOut: (vehicle) => `Quitar ${vehicle}`,
      tooMany: (most) => `Como máximo ${n(most)} motores por petición. Quite algunos`,
      overLimit: (left) => `Solo quedan ${n(left)} cortes permitidos en esta hora. Quite algunos`,
      gone: 'Ese vehículo ya no existe',
      notYours: 'No puede dar órdenes a este vehículo',
      button: (count) => `Cortar ${engines(count)}, cada uno cuando esté parado`,
    },
  },
};
